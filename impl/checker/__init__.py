"""Checks certificates again from the file alone, without torch."""
