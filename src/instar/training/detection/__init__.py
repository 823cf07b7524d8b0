"""Fine-tuning of detectors."""
