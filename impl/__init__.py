"""What realises the theory: recurrent systems, their constants and their certificates, in batch."""
