"""What the functions share that the clock starts."""
