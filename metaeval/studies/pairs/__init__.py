"""System pairs over evaluation sets: human and metric differences between two systems, and their agreement."""
