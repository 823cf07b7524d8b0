"""How long `instar --help` and `import instar` take beside `import numpy`: ratios, taken in one run.

And how long a run with a network that is there takes until its first answer is kept.
"""

from __future__ import annotations

import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

from instar.zoo import fetch
from instar.zoo.manifest import photographs

RUN = ["run", "--system", "yolox-nano", "--relation", "brightened", "--referees", "none", "--budget", "8"]
COMMANDS = {
    "import numpy": ["-c", "import numpy"],
    "instar --help": ["-m", "instar", "--help"],
    "import instar": ["-c", "import instar"],
}


def seconds(words: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def seconds_to_first_answer(picture: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        words = [sys.executable, "-m", "instar", *RUN, "--scenes", str(picture), "--out", str(run), "--json"]
        began = time.perf_counter()
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not _has_answer(run) and process.poll() is None:
                time.sleep(0.005)
            return time.perf_counter() - began


def _has_answer(run: Path) -> bool:
    file = run / "run.sqlite"
    with suppress(sqlite3.OperationalError):  # its tables are not made yet
        if file.exists():
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                return database.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is not None
    return False


def main() -> None:
    took: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(15):  # taken in turn, so that all see the same machine
        for name, words in COMMANDS.items():
            took[name].append(seconds(words))
    numpy = statistics.median(took["import numpy"])
    for name, times in took.items():
        middle = statistics.median(times)
        print(f"{name} {1000 * middle:.0f} ms, ratio {middle / numpy:.2f} (wanted: at most 1)")
    fetch("yolox-nano")
    (picture,) = fetch(photographs()[0].name)
    first = [seconds_to_first_answer(picture) for _ in range(3)]
    print(f"first answer of yolox-nano kept after {', '.join(f'{one:.2f}' for one in first)} s (wanted: 1.5)")


if __name__ == "__main__":
    main()
