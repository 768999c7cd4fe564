"""System pairs over evaluation sets: how far people and metrics put two systems apart, and whether they agree."""
