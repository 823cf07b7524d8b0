"""The study of the paper on detection."""
