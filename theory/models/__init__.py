"""What claims presuppose, and the lemmas that several of them share."""
