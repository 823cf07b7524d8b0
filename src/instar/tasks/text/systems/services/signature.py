"""Signatures of requests, as AWS (version 4) and Tencent Cloud (version 3) want them.

Both hash the request, and sign the hash with a key that is derived from the secret step by step over the
scope of the signature: the day, the service and so on. They differ in their prefix and in the scope.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Literal

__all__ = ["authorization"]


def authorization(
    prefix: Literal["AWS4", "TC3"],
    key: tuple[str, str],
    *,
    scope: Sequence[str],
    moment: str,
    headers: Mapping[str, str],
    body: bytes,
) -> str:
    """The `Authorization` of a POST to "/" without a query.

    `key` is its id and secret; `moment` the time as the service writes it; `headers`, all of which are
    signed, must name the host.
    """
    signed = dict(sorted((name.lower(), value.strip()) for name, value in headers.items()))
    names = ";".join(signed)
    lines = [f"{name}:{value}" for name, value in signed.items()]
    request = "\n".join(["POST", "/", "", *lines, "", names, hashlib.sha256(body).hexdigest()])
    within = "/".join(scope)
    digest = hashlib.sha256(request.encode()).hexdigest()
    to_sign = f"{prefix}-HMAC-SHA256\n{moment}\n{within}\n{digest}"
    secret = reduce(_keyed, scope, (prefix + key[1]).encode())
    signature = _keyed(secret, to_sign).hex()
    return f"{prefix}-HMAC-SHA256 Credential={key[0]}/{within}, SignedHeaders={names}, Signature={signature}"


def _keyed(key: bytes, message: str) -> bytes:
    return hmac.new(key, message.encode(), hashlib.sha256).digest()
