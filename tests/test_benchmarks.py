"""What `make bench` runs still runs: on little, and for its figures and not for how fast it is."""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "benchmarks"
STATISTICS = """
import text_cost
text_cost.CASES = 200
print(text_cost.seconds_of_statistics() > 0)
"""


def run(*words):
    return subprocess.run(
        [sys.executable, *words], cwd=FOLDER, capture_output=True, text=True, check=True
    ).stdout


def test_memory_is_measured_with_and_without_a_budget():
    assert json.loads(run("memory.py", "5"))["cases"] == 10
    assert json.loads(run("memory.py", "5", "10"))["cases"] == 5


def test_statistics_of_stored_cases_are_made():
    assert run("-c", STATISTICS) == "True\n"
