"""The consumer of the table's stream that keeps the change feeds."""
