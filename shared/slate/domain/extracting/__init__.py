"""Rules that read what a person says of herself, in English; each is made to be right rather than to find everything.

``extract`` takes a user's turn; ``clauses`` parts it into simple statements with their subject; the rules of one
theme stand in a file each, and name a statement, its slot and its value.
"""
