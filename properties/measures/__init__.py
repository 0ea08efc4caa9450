"""The measured quantities by topic, as in the vocabulary."""
