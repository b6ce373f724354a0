"""The local embedder: WordLlama's static vectors of word pieces, run offline by numpy alone."""
