"""The quantities of the vocabulary, by what they speak of."""
