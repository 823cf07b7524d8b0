"""Pixels in, pixels out. Knows pictures, and nothing of systems, relations or families."""
