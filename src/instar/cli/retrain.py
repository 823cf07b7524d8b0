"""`instar retrain`: a detector is trained on what a run found, and measured."""
