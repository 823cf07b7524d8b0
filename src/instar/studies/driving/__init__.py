"""The study of the paper on driving."""
