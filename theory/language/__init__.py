"""What statements are made of, and how they are read and shown."""
