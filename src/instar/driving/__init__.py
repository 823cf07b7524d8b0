"""Driving: rules in plain English about what speed and steering must do when the scene changes."""
