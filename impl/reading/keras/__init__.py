"""Recurrent layers of Keras files."""
