"""From the stage into the warehouse, in one transaction."""
