"""Fine-tuning of text locators."""
