"""What a run takes before it begins, and how far its trainings are."""
