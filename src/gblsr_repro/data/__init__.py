"""data room."""
