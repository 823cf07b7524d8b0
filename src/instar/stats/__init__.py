"""Statistics over counts; nothing here knows what was counted."""

from instar.stats.intervals import bootstrap_mean, bootstrap_rate, wilson

__all__ = ["bootstrap_mean", "bootstrap_rate", "wilson"]
