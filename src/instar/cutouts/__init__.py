"""cutouts."""
