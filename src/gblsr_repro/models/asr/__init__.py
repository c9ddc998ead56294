"""asr room."""
