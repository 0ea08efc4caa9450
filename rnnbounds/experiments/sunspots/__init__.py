"""A forecaster of the yearly sunspot number, and its memory."""
