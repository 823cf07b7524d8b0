"""The pictures looked at most recently, so that a scene is not decoded for every case."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class PictureCache:
    """Keeps so many pictures, by any key; used by several threads."""

    def __init__(self, capacity: int) -> None:
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._capacity = capacity
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return made
