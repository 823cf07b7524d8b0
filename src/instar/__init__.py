"""Test vision systems without labels."""
