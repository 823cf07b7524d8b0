"""Driving systems, one module per kind."""
