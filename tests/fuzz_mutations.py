"""Ways to spoil a valid file: its bytes, its words, or the values in its tables."""

from __future__ import annotations

import copy
import json
import math
import random
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from instar.campaigns.toml import write_table
from instar.user_file import parse_toml

Mutate = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

PNG = b"\x89PNG\r\n\x1a\n"
DEEP = 100_000
LONG = 100_000
NUMBERS = (
    "0", "-1", "1e308", "-1e308", "1e999", "1e39", "NaN", "nan", "inf", "-inf", "Infinity", "0.5", "1e-320",
    str(2**31), str(-(2**31)), str(2**63), str(2**64), "9" * 400, "9" * 5000, "0x10", "1_000", "٣", "",
    "null",
)  # fmt: skip
WORDS = (
    "", " ", "\0", "\n", "\u202ereversed", "a\u0301", "\ufeff", "\U0001f600", "ﷺ", "../../../x", "/",
    "x" * LONG,
    "%s%n{}", "<script>", "\\u0000", "None", "true", "a\rb", "\x1b[31m", "\x85", "\u2028", "con", ".", "a:b",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 0.5, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, 1e39, -1e308, math.nan,
    math.inf,
    -math.inf, "", "0", "x" * LONG, "\0", "\ud800", "\u202e", [], {}, [[]], [None], {"": None}, [1, 2],
    [1, 2, 3, 4],
    [math.nan] * 4, [1e308, 1e308, 1e308, 1e308], {"a": {"b": {}}}, "1e999", ["x"] * 1000, "a\nb",
)  # fmt: skip


def spoil_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to three changes of the bytes, whatever they mean."""
    for _ in range(rng.randint(1, 3)):
        data = rng.choice(BYTES)(rng, data, others)
    return data


def spoil_picture(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The same; a PNG often with checksums that fit what is in it now, so that its decoder is reached."""
    data = spoil_bytes(rng, data, others)
    return sealed(data) if data.startswith(PNG) and rng.random() < 0.6 else data


def sealed(data: bytes) -> bytes:
    """A PNG with the checksum of every chunk made anew, as far as chunks can be told."""
    parts, at = [data[: len(PNG)]], len(PNG)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        end = at + 8 + length
        if end + 4 > len(data):
            break
        parts.append(data[at:end] + zlib.crc32(data[at + 4 : end]).to_bytes(4, "big"))
        at = end + 4
    return b"".join([*parts, data[at:]])


def spoil_text(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A change of bytes, of numbers and words, or of lines."""
    if rng.random() < 0.25:
        return spoil_bytes(rng, data, others)
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(TEXT)(rng, text)
    return text.encode("utf-8", "surrogatepass" if rng.random() < 0.5 else "replace")


def spoil_json(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A change of the values in JSON; now and then of its text, or values nested without end."""
    kind = rng.random()
    if kind < 0.2:
        return spoil_text(rng, data, others)
    if kind < 0.24:
        return nest(rng, data, rng.choice([(b"[", b"]"), (b'{"a":', b"}")]))
    tree = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        tree = spoil_tree(rng, tree)
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.8)
    if rng.random() < 0.1:
        text = twice_keyed(rng, text)
    return text.encode("utf-8", "surrogatepass")


def spoil_toml(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The same for TOML, where values are tables that TOML can write."""
    kind = rng.random()
    if kind < 0.4:
        return spoil_text(rng, data, others)
    if kind < 0.44:
        return nest(rng, data, rng.choice([(b"a = [", b"]"), (b"a = {b = ", b"}"), (b"[a.", b"]")]))
    tree: Any = parse_toml(data.decode())
    for _ in range(rng.choice((1, 1, 2, 4))):
        tree = spoil_tree(rng, tree)
    if not isinstance(tree, dict):
        tree = {"a": tree}
    return write_table(_without_none(tree)).encode()


def spoil_xml(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The same for XML: its text, its elements, and elements in elements without end."""
    kind = rng.random()
    if kind < 0.05:
        return nest(rng, data, (b"<object>", b"</object>"))
    if kind < 0.6:
        return spoil_text(rng, data, others)
    tags = list(re.finditer(rb"<[^>]*>", data))
    tag = rng.choice(tags)
    new = rng.choice(
        [b"", b"<object>", b"</object>", b"<!DOCTYPE a>", b"<![CDATA[", b"&lt;", rng.choice(tags)[0]]
    )
    return data[: tag.start()] + new + data[tag.end() :]


def nest(rng: random.Random, data: bytes, brackets: tuple[bytes, bytes]) -> bytes:
    """Brackets within brackets, up to 100,000 deep, in the place of everything or of a number."""
    opening, closing = brackets
    levels = rng.choice((500, 990, DEEP))
    inner = opening * levels + b"1" + (closing * levels if rng.random() < 0.7 else b"")
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers or rng.random() < 0.4:
        return inner
    place = rng.choice(numbers)
    return data[: place.start()] + inner + data[place.end() :]


def spoil_tree(rng: random.Random, tree: Any) -> Any:
    """One value of a tree is another, gone, twice there, or in another's place."""
    tree = copy.deepcopy(tree)
    places = list(_places(tree))
    if not places:
        return rng.choice(VALUES)
    holder, key = rng.choice(places)
    how = rng.random()
    if how < 0.6:
        holder[key] = copy.deepcopy(rng.choice(VALUES))
    elif how < 0.75:
        del holder[key]
    elif how < 0.85 and isinstance(holder, list):
        holder.extend([copy.deepcopy(holder[key])] * rng.choice((1, 3, 50)))
    elif how < 0.9 and isinstance(holder, dict):
        holder[rng.choice(WORDS)] = holder.pop(key)
    else:
        other, its = rng.choice(places)
        if its in other if isinstance(other, dict) else its < len(other):
            holder[key] = copy.deepcopy(other[its])
    return rng.choice(VALUES) if rng.random() < 0.01 else tree


def twice_keyed(rng: random.Random, text: str) -> str:
    """The same key twice in an object, with another value."""
    keys = list(re.finditer(r'[{,]\s*("\w+")\s*:', text))
    if not keys:
        return text
    key = rng.choice(keys)
    value = json.dumps(rng.choice(VALUES))
    return f"{text[: key.start() + 1]}{key[1]}: {value}, {text[key.start() + 1 :]}"


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


def _without_none(tree: Any) -> Any:
    """As TOML can say it: no null, no lone surrogates."""
    if isinstance(tree, dict):
        return {_plain(k): _without_none(v) for k, v in tree.items() if v is not None}
    if isinstance(tree, list):
        return [_without_none(v) for v in tree if v is not None]
    return _plain(tree) if isinstance(tree, str) else tree


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _flip(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64)) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwrite(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data) if rng.random() < 0.5 else min(len(data), 64))
    odd = rng.choice(
        (b"\0", b"\xff", b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\1")
    )
    return data[:at] + odd + data[at + len(odd) :]


def _truncate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _cut(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[b:]


def _double(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:b] + data[a:b] * rng.choice((1, 1, 20)) + data[b:]


def _splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _noise(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 300))) + data[at:]


def _empty(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return rng.choice((b"", b"\0", b"\n", b"\xef\xbb\xbf"))


def _number(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, r"-?\d+(?:\.\d+)?", rng.choice(NUMBERS))


def _word(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, r"\w+", rng.choice(WORDS))


def _mark(rng: random.Random, text: str) -> str:
    return _replaced(
        rng, text, r"[^\w\s]", rng.choice(("", ",", '"', "'", "[", "]", "{", "}", ":", "=", "<", "#"))
    )


def _other_word(rng: random.Random, text: str) -> str:
    words = re.findall(r"\w+", text)
    return _replaced(rng, text, r"\w+", rng.choice(words)) if words else text


def _lines(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        lines[at], lines[to] = lines[to], lines[at]
    elif how == 1:
        del lines[at]
    elif how == 2:
        lines[at] *= rng.choice((2, 100))
    else:
        lines[at] = lines[at].rstrip("\n") + lines[to]
    return "".join(lines)


def _replaced(rng: random.Random, text: str, pattern: str, new: str) -> str:
    places = list(re.finditer(pattern, text))
    if not places:
        return text + new
    place = rng.choice(places)
    return text[: place.start()] + new + text[place.end() :]


BYTES = (_flip, _flip, _flip, _overwrite, _overwrite, _truncate, _cut, _double, _splice, _noise, _empty)
TEXT = (_number, _number, _word, _word, _mark, _other_word, _lines)
