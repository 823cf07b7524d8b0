"""Systems of any task from what people have."""
