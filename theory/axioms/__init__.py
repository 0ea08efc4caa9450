"""The textbook lemmas that ledgers may use without proof, by family."""
