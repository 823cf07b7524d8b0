"""Training of classifiers, and of twins with a backdoor."""
