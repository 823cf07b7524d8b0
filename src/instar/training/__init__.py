"""What makes weights: drivers, classifiers and their twins with a backdoor."""
