"""Modules of torch, with the cells that they compute."""
