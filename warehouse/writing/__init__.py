"""Writing staged data into the warehouse in one transaction."""
