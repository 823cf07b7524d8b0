"""Answers come back from bytes exactly as they went, and reading them imports nothing."""

import dataclasses
import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from instar.store.answers import COMPRESS_FROM, decode_answer, encode_answer


@dataclass(frozen=True)
class Found:
    boxes: Any
    label: Any = None


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    return repr(a) == repr(b)  # tells -0.0 from 0.0, and knows that nan is nan


dtypes = (
    hnp.boolean_dtypes() | hnp.integer_dtypes(endianness="?") | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)) | hnp.complex_number_dtypes(endianness="?")
)  # fmt: skip
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
text = st.text(max_size=8)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | text | arrays
answers = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(text, inner, max_size=4)
        | st.builds(Found, inner, inner)
    ),
    max_leaves=8,
)


@given(answers)
def test_every_answer_comes_back_as_it_was(answer):
    assert same(decode_answer(encode_answer(answer)), answer)


@pytest.mark.parametrize(
    "scalar", [np.float32(1.5), np.int8(-3), np.bool_(True), np.complex64(1j), np.array(2.0)]
)
def test_scalars_and_arrays_without_dimensions_stay_apart(scalar):
    assert same(decode_answer(encode_answer(scalar)), scalar)


def test_an_array_in_another_order_comes_back_in_the_usual_one():
    turned = np.arange(12).reshape(3, 4).T
    back = decode_answer(encode_answer(turned))
    np.testing.assert_array_equal(back, turned)
    assert back.flags.c_contiguous
    assert back.flags.writeable


def test_a_heat_map_is_compressed():
    heat = np.zeros((224, 224), np.float32)
    data = encode_answer({"heat": heat})
    assert len(data) < heat.nbytes / 50
    assert same(decode_answer(data), {"heat": heat})
    assert len(encode_answer(np.zeros(COMPRESS_FROM // 2, np.uint8))) > COMPRESS_FROM // 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (object(), "an answer with a object cannot be kept"),
        ({1: 2}, "a mapping whose keys are not strings cannot be kept"),
        (np.array([None]), "an array of object cannot be kept"),
        (np.array(["x"]), "an array of <U1 cannot be kept"),
        (b"raw", "an answer with a bytes cannot be kept"),
        (Found, "an answer with a type cannot be kept"),
    ],
)
def test_what_cannot_be_kept_is_named(answer, reason):
    with pytest.raises(TypeError) as refused:
        encode_answer([answer])
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    "path",
    ["os:system", "antigravity:x", "this:d", "instar.nowhere:X", "numpy:ndarray", "builtins:exec", ":", ""],
)
def test_a_hostile_type_name_imports_and_runs_nothing(path):
    header = json.dumps({"dataclass": [path, {"boxes": 3}]}).encode()
    before = set(sys.modules)
    assert decode_answer(b"p" + len(header).to_bytes(4, "little") + header) == {"boxes": 3}
    assert set(sys.modules) == before


def test_a_class_that_took_the_place_of_another_is_not_kept():
    def shadow():
        @dataclass(frozen=True)
        class Found:
            boxes: int

        return Found

    impostor = shadow()
    impostor.__qualname__ = "Found"
    with pytest.raises(TypeError, match="is another class by now"):
        encode_answer(impostor(1))
