"""Amazon SQS."""
