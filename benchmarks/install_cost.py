"""What each extra takes: megabytes and seconds, each from an empty environment.

python benchmarks/install_cost.py            # every extra for users
python benchmarks/install_cost.py torch hf   # some of them
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[1]
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_US = ("weights", "dev", "peers", "libraries")
EXTRAS = [name for name in PACKAGE["optional-dependencies"] if name not in FOR_US]


def install(extra: str, wheel: Path) -> tuple[float, float]:
    """Megabytes on disk and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        empty, began = size_of(Path(folder)), time.monotonic()
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        python = str(Path(folder) / "bin" / "python")
        words = ["-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check"]
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([python, *words, *constraints, wanted], check=True, stderr=subprocess.DEVNULL)
        return (size_of(Path(folder)) - empty) / 1e6, time.monotonic() - began


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def main(extras: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, str(ROOT)]
        subprocess.run(build, check=True, stderr=subprocess.DEVNULL)
        (wheel,) = Path(folder).glob("*.whl")
        alone, seconds = install("", wheel)
        print("| extra | size, MB | more than none | seconds |\n|---|--:|--:|--:|")
        print(f"| (none) | {alone:.0f} | +0 | {seconds:.0f} |", flush=True)
        for extra in extras:
            size, seconds = install(extra, wheel)
            print(f"| {extra} | {size:.0f} | +{size - alone:.0f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or EXTRAS)
