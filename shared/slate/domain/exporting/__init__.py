"""What is kept about a person, as one text: a line for each thing, with where it comes from."""
