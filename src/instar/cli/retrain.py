"""`instar retrain`: a detector is trained on what a run found, and measured."""

from instar.studies.retraining.command import arguments as arguments
from instar.studies.retraining.command import perform as perform
