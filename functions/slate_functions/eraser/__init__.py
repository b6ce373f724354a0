"""Goes on with erasures and ends holds, as they fall due."""
