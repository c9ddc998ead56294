"""evaluation room."""
