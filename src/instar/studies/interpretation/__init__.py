"""The study of the paper on interpretation."""
