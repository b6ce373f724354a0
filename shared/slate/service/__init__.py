"""Use cases by noun. They know ports and rules; no AWS, no HTTP."""
