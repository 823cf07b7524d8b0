"""A command as a system: it is called with files of pictures and prints an answer for each."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from instar.adapters.picture_system import hash_files
from instar.core.answer_values import short
from instar.core.errors import BadInput
from instar.core.options import require_picture, require_whole_number
from instar.core.scene import Image
from instar.imaging.codecs import encode_png


class CommandSystem:
    """`command a.png b.png ...`, which prints the JSON of each picture, in their order.

    Other output is passed over. Each call starts the command once, for up to `batch` pictures.
    """

    def __init__(self, *, command: str, batch: int = 8) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BadInput(f"cmd:{command} is no command: {error}") from None
        if not words:
            raise BadInput("cmd: has no command; write it as cmd:./predict.sh")
        if shutil.which(words[0]) is None:
            raise BadInput(f"cmd:{command}: there is no {words[0]}, or it may not be executed")
        require_whole_number("cmd", "batch", batch, least=1)
        self.name, self.batch, self._words = f"cmd:{command}", batch, words
        files = [Path(word).resolve() for word in words if Path(word).is_file()]
        self.fingerprint = f"cmd:{command} files={hash_files(*files)}"

    def predict(self, images: Sequence[Image]) -> list[Any]:
        """The answers to pictures `uint8 (H, W, 3)` RGB, which the command reads as PNG."""
        with tempfile.TemporaryDirectory(prefix="instar-") as folder:
            paths = [Path(folder) / f"{n}.png" for n in range(len(images))]
            for path, image in zip(paths, images):
                require_picture(image)
                path.write_bytes(encode_png(image))
            try:
                done = subprocess.run([*self._words, *map(str, paths)], capture_output=True, check=False)
            except OSError as error:
                raise BadInput(f"{self.name} cannot be run: {error.strerror or error}") from error
        if done.returncode:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
            status = f"{self.name} ended with status {done.returncode}"
            raise RuntimeError(f"{status}: {said or 'it said nothing'}")
        text = done.stdout.decode("utf-8", "replace")
        found = list(_values(text))
        if len(found) != len(images):
            said = f"; it printed {short(text)[:80]}" if not found and text.strip() else ""
            raise ValueError(
                f"{self.name} printed {len(found)} JSON answers to {len(images)} pictures; it must print one "
                f"for each, on a line of its own{said}"
            )
        return found


def _values(text: str) -> Iterator[Any]:
    """The JSON objects and lists that begin and end with a line; whatever else was printed is left out."""
    decoder, end = json.JSONDecoder(), 0
    for line in re.finditer(r"^[ \t]*(?=[\[{])", text, re.MULTILINE):
        if line.end() >= end:
            with contextlib.suppress(ValueError, RecursionError):
                value, after = decoder.raw_decode(text, line.end())
                if not text[after:].partition("\n")[0].strip():
                    end = after
                    yield value
