"""The relations of explanations."""
