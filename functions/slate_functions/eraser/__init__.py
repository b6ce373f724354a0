"""Goes on with erasures and ends holds, as they fall due, and tells how long persons have waited."""
