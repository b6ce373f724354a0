"""What is known about people: let in, kept true, read, taken back."""
