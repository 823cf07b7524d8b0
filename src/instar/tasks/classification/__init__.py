"""Image classification: the label that was sure must stay."""
