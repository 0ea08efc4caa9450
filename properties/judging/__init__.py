"""Left side against right side, with the errors of both; what is seen of it."""
