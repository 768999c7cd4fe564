"""The organisers' archive: fetched, checked, unpacked and loaded."""
