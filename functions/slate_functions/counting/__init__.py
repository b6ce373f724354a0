"""What the functions count, told to CloudWatch."""
