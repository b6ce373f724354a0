"""HTTPS to addresses that callers name."""
