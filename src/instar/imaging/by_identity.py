"""What was made of the objects looked at most recently, so that it is not made for every case."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from instar.core.picture_cache import PictureCache

F = TypeVar("F", bound=Callable[..., Any])


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
