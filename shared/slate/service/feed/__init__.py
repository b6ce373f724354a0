"""The change feed: numbering what the stream tells, and reading it."""
