"""What pages of the workbench cost on a run of a million cases, in milliseconds of server time: percentiles.

Server time is from the first byte of a request reaching the application to the last byte of its answer
leaving it, measured inside the application. The first page of a freshly started workbench is a row of its
own. CPU is that of the whole process meanwhile: on a busy machine the clock tells how busy it is.
`python benchmarks/workbench_speed.py [RUN] [CASES]`; without RUN one is made in a
temporary folder.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from large_run import make_large_run
from starlette.testclient import TestClient

from instar.cli.view import offers_of
from instar.workbench.access import Access
from instar.workbench.app import make_app, make_site
from instar.workbench.site import Site

TIMES = 20
LIMIT = 300.0  # milliseconds


class Watch:
    """ASGI middleware that notes how long each request took, by the clock and of the processor."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.took = (0.0, 0.0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        clock, processor = time.perf_counter(), time.process_time()
        await self.app(scope, receive, send)
        self.took = (1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processor))


@contextlib.contextmanager
def shown(what: str, total: int | None) -> Iterator[Any]:
    class Steps:
        def advance(self, n: int = 1) -> None:
            """Nobody is watching."""

    yield Steps()


def addresses(site: Site, rng: np.random.Generator) -> dict[str, Callable[[], str]]:
    """For each kind of page a way to ask for it, differently each time where that is possible."""
    table = site.library.table
    (run,) = site.library.runs

    def any_name(facet: str) -> str:
        return table.words[facet][int(rng.integers(len(table.words[facet])))]

    def explore(**values: object) -> str:
        return f"/explore?{urlencode(values, doseq=True)}"

    def case() -> str:
        row = int(rng.integers(len(table)))
        query = {"of": run, "status": ["violated", "held"], "relation": any_name("relation")}
        return f"/case/{table.case_id(row)}?{urlencode(query, doseq=True)}"

    return {
        "explore, all": lambda: explore(),
        "explore, violated": lambda: explore(status="violated"),
        "explore, a scene": lambda: explore(scene=any_name("scene")),
        "explore, five filters": lambda: explore(
            status=["violated", "held"], relation=any_name("relation"), kind=any_name("kind"), natural=0.5,
            least=-0.5, mark="unmarked",
        ),
        "explore, a group": lambda: explore(group=any_name("group")),
        "explore, text": lambda: explore(text=f"photo-0{rng.integers(10)}"),
        "explore, sorted": lambda: explore(sort=["natural", "scene", "clearest"][int(rng.integers(3))]),
        "explore, far page": lambda: explore(page=int(rng.integers(1, len(table) // 36))),
        "case": case,
        "summary": lambda: "/summary",
        "summary, filtered": lambda: f"/summary?{urlencode({'kind': any_name('kind')})}",
        "naturalness slider": lambda: f"/summary/figures?natural={rng.uniform():.2f}",
        "runs": lambda: "/runs",
        "compare": lambda: f"/compare?{urlencode([('run', run), ('run', run)])}",
        "new campaign": lambda: "/campaign/new",
        "campaign": lambda: f"/campaign?of={run}",
        "rate": lambda: f"/rate?of={run}&rater=ann",
    }  # fmt: skip


def main(folder: Path, cases: int) -> None:
    began = time.perf_counter()
    run = make_large_run(folder, cases)
    print(f"made in {time.perf_counter() - began:.0f} s, {(run / 'run.sqlite').stat().st_size / 1e6:.0f} MB")
    (run / "workbench.npz").unlink(missing_ok=True)
    for start in ("first start", "second start"):
        site = make_site(run, offers_of([], []), Access(1))
        began = time.perf_counter()
        site.library.load(shown)
        print(f"{start}: read in {time.perf_counter() - began:.1f} s")
    watch = Watch(make_app(site))
    rng = np.random.default_rng(0)
    with TestClient(watch, base_url="http://127.0.0.1:1") as client:
        client.get("/static/page.css", params={"token": site.access.token})
        client.get("/explore?status=violated")
        measured = {"the first page": [watch.took]}
        began = time.perf_counter()
        while any(one.groups.distinct is None for one in site.library.runs.values()):
            time.sleep(0.1)
        print(f"groups known after {time.perf_counter() - began:.0f} s, in a process of their own")
        for name, address in addresses(site, rng).items():
            measured[name] = []
            for _ in range(TIMES):
                answer = client.get(address())
                assert answer.status_code == 200, (name, answer.text[:500])
                measured[name].append(watch.took)
    heads = "".join(f"{head:>6}" for head in ("p50", "p95", "most"))
    print(f"\n{'milliseconds of server time':28}{heads}    {heads} of CPU")
    for name, times in measured.items():
        clock, processor = (np.percentile(column, [50, 95, 100]) for column in zip(*times))
        numbers = "".join(f"{number:6.0f}" for number in clock) + "    "
        numbers += "".join(f"{number:6.0f}" for number in processor)
        print(f"{name:28}{numbers}{'  over 300' if clock[2] > LIMIT else ''}")


if __name__ == "__main__":
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), cases)
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "large", cases)
