"""detection/systems."""
