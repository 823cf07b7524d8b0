"""Detectors that are ready to be tested."""
