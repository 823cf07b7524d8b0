"""The pictures looked at most recently, and what was made of them, so that it is not made for every case."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

__all__ = ["PictureCache", "by_identity"]

F = TypeVar("F", bound=Callable[..., Any])


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


def by_identity(capacity: int) -> Callable[[F], F]:
    """Remembers so many results of a function, found again by the identity of its first argument and the
    value of the others. The first is held meanwhile, so that no other object gets its identity; nobody may
    write into it or into the result.
    """

    def decorate(function: F) -> F:
        kept = PictureCache(capacity)

        @wraps(function)
        def remembered(one: Any, *others: Any) -> Any:
            _, result = kept.get((id(one), *others), lambda: (one, function(one, *others)))
            return result

        return cast(F, remembered)

    return decorate
