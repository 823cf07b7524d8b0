"""How long `instar --help` takes, beside `python -c "import numpy"`: the ratio, taken in one run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    helps, numpys = [], []
    for _ in range(15):  # taken in turn, so that both see the same machine
        helps.append(seconds([sys.executable, "-m", "instar", "--help"]))
        numpys.append(seconds([sys.executable, "-c", "import numpy"]))
    ours, theirs = statistics.median(helps), statistics.median(numpys)
    print(f"instar --help {1000 * ours:.0f} ms, import numpy {1000 * theirs:.0f} ms")
    print(f"ratio {ours / theirs:.2f} (at most 2)")


if __name__ == "__main__":
    main()
