"""The user's own metrics: their scores are added, computed and removed here."""
