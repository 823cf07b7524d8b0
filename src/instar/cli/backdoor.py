"""`instar backdoor`: plant a backdoor into a classifier."""

from instar.training.interpretation.command import arguments as arguments
from instar.training.interpretation.command import perform as perform
