"""What a contractive model remembers, and how far it may be truncated."""
