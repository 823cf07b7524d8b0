"""Training of driving networks."""
