"""Images pixel by pixel, in a random order."""
