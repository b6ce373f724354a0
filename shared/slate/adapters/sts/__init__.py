"""STS, for credentials that reach one tenant's data."""
