"""The privacy API: what a person may ask for, and what proves that it was done."""
