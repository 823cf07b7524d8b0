"""The tasks: one package each, all of the same plan."""
