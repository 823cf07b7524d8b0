"""`instar backdoor`: plant a backdoor into a classifier."""
