"""Options that several commands share: which data, where results go."""
