"""What a campaign remembers: in memory, or in a run folder."""

from instar.store.memory import MemoryStore
from instar.store.run import RunStore

__all__ = ["MemoryStore", "RunStore"]
