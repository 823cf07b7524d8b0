"""Training the networks that change street photographs: filling, and telling what is where."""
