"""The consumer of the table's stream that keeps the index; the second, and the last."""
