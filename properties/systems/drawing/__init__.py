"""What Hypothesis draws, and how a spec becomes numbers."""
