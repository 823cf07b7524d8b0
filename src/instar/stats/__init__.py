"""Statistics over counts; nothing here knows what was counted."""

from instar.stats.intervals import bound_when_none, clustered_mean, clustered_rate, wilson

__all__ = ["bound_when_none", "clustered_mean", "clustered_rate", "wilson"]
