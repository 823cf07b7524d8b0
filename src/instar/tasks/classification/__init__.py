"""Classification: what a picture is taken for must not change with its light, its side or its size."""
