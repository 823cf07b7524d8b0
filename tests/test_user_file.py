"""What is wrong with a user's file is said in one line that names it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from instar.core.errors import BadInput, RunError
from instar.user_file import read_json, read_text, read_user_file, unfinished_file, whole_file, write_whole


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read the plan .*none\.toml: No such file"):
        read_user_file(tmp_path / "none.toml", "plan", dict)


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read the file"):
        read_text(tmp_path / ("x" * 5000))
    with pytest.raises(BadInput, match="cannot read the file"):
        read_text(tmp_path / "a\0b")


def test_a_file_that_is_no_toml_is_named_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("seed = = 3")
    with pytest.raises(BadInput, match=r"plan\.toml: this is not TOML: .*line 1"):
        read_user_file(tmp_path / "plan.toml", "plan", dict)


def test_a_file_that_is_no_text_is_named_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_bytes(b"a = 1\n\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"plan\.toml line 2: byte 6 is not UTF-8"):
        read_user_file(tmp_path / "plan.toml", "plan", dict)


def test_lines_end_alike_and_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_text(tmp_path / "a.txt") == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", r"is not JSON: .* line 1 column 2"),
        ("9" * 5000, "is not JSON: Exceeds the limit"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
    ids=["broken", "a long number", "deep lists", "deep tables"],
)
def test_what_is_no_json_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BadInput, match=complaint) as refused:
        read_json(tmp_path / "a.json")
    assert "\n" not in str(refused.value)


def test_toml_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(BadInput, match="nested too deeply"):
        read_user_file(tmp_path / "a.toml", "plan", dict)


def test_a_file_that_is_not_finished_is_as_it_was_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "new" / "card.json"
    write_whole(path, "old")

    def interrupted() -> None:
        with unfinished_file(path) as unfinished:
            unfinished.write_text("half of the ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_threads_that_write_the_same_file_do_not_mix_their_halves(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    contents = [bytes([n]) * 100_000 for n in range(16)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write_whole, [path] * len(contents), contents))
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = pytest.raises(RunError, match=r"cannot write .*card\.json: .*; choose another place")
    with refused, whole_file(tmp_path / "file" / "card.json"):
        pass
