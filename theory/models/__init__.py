"""Models: the assumptions of claims, and lemmas that several claims share."""
