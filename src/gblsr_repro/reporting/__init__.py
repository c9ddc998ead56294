"""reporting room."""
