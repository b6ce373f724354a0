"""Search: what is known, said, done and written, found for a query, and checked before it is given."""
