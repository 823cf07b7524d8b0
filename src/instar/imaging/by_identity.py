"""What was made of the objects looked at most recently, so that it is not made for every case."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from instar.core.picture_cache import PictureCache

F = TypeVar("F", bound=Callable[..., Any])


def by_identity(capacity: int, *, each: int = 0) -> Callable[[F], F]:
    """Cache so many results of a function by the identity of its first argument and the values of the others.

    The first argument is kept alive with its result, so that no other object gets its identity. Nobody may
    write into either. With `each`, so many results are kept for each of `capacity` objects.
    """

    def decorate(function: F) -> F:
        kept = PictureCache(capacity)

        @wraps(function)
        def remembered(one: Any, *others: Any) -> Any:
            if each:
                _, own = kept.get(id(one), lambda: (one, PictureCache(each)))
                return own.get(others, lambda: function(one, *others))
            _, result = kept.get((id(one), *others), lambda: (one, function(one, *others)))
            return result

        return cast(F, remembered)

    return decorate
