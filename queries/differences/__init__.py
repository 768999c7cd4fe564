"""What differs between two warehouses, by names and content: identifiers, places of files and times do not count."""
