"""The study of the paper on text."""
