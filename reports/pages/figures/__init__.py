"""Figures of pages, drawn as SVG."""
