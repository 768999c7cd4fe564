"""Arrays as every kernel takes them: checked, grouped, sorted."""
