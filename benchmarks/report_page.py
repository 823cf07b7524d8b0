"""What a report of 5,000 findings costs: how heavy the page is, and when its first picture is there.

    python benchmarks/report_page.py [--findings N]

The run is made by instar's own store, with pictures for 64 findings. It takes Chromium, as the tests do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from bench_runs import make_large_run
from browser import chromium
from instar.cli import main

TIMES = 5
FIRST_PICTURE = """
const done = arguments[0];
new PerformanceObserver((list) => {
  const seen = list.getEntries().filter((one) => one.element?.tagName.toLowerCase() === "image");
  if (seen.length) done(seen[0].startTime);
}).observe({ type: "largest-contentful-paint", buffered: true });
"""


def measure(findings: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run, page = make_large_run(Path(folder) / "run", findings), Path(folder) / "page.html"
        began = time.process_time()
        main(["report", str(run), "--html", str(page), "--json"])
        print(f"{findings:,} findings: {page.stat().st_size / 1e6:.2f} MB", file=sys.stderr)
        print(f"made in {time.process_time() - began:.1f} s of CPU", file=sys.stderr)
        times = []
        with chromium(width=1440, height=900) as browser:
            browser.set_script_timeout(60)
            for _ in range(TIMES):
                browser.get("about:blank")
                browser.get(page.as_uri())
                times.append(browser.execute_async_script(FIRST_PICTURE))
        print(f"first picture after {median(times):.0f} ms (median of {TIMES})", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--findings", type=int, default=5_000)
    measure(parser.parse_args().findings)
