"""Text locators that are ready to be tested."""
