"""How large is the report of N records, how long does it take to write, and how long to open? Needs chromium and chromedriver.

python bench/report_open.py [--records 5000] [--judges 1]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--records", type=int, default=5000)
    words.add_argument("--judges", type=int, default=1)
    words.add_argument("--rounds", type=int, default=3)
    asked = words.parse_args()
    from judgekit.report.write import write_report
    from tests.report.runs import many, write_run

    judges = {f"openai/judge-{i}": 0.7 - 0.1 * i for i in range(asked.judges)}
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "run", many(asked.records), rubrics=("analytical-rubric",), judges=judges)
        start = time.perf_counter()
        page = write_report(run, Path(folder) / "report.html")
        wrote, size = time.perf_counter() - start, page.stat().st_size / 1e6
        print(f"{'records':>8} {'judges':>7} {'MB':>6} {'write s':>8} {'first table s':>14} {'search s':>9}")
        opened = searched = None
        if shutil.which("chromium") and shutil.which("chromedriver"):
            times = [_open(page) for _ in range(asked.rounds)]
            opened, searched = (statistics.median(each) for each in zip(*times, strict=True))
        row = [f"{asked.records:8d} {asked.judges:7d} {size:6.1f} {wrote:8.1f}"]
        row += ["no chromium" if opened is None else f"{opened:14.2f} {searched:9.2f}"]
        print(" ".join(row))
    return 0 if size < 15 else 1


def _open(page: Path) -> tuple[float, float]:
    """Seconds until the table of records stands, and until a first search over all texts has answered."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait

    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for word in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-sandbox"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    try:
        start = time.perf_counter()
        driver.get(page.as_uri())
        WebDriverWait(driver, 120, 0.05).until(
            lambda d: d.execute_script("return document.documentElement.dataset.ready")
        )
        opened = time.perf_counter() - start
        start = time.perf_counter()
        driver.execute_script(
            "const at = document.getElementById('find'); at.value = 'case 4999'; at.dispatchEvent(new Event('input'))"
        )
        WebDriverWait(driver, 120, 0.05).until(
            lambda d: d.execute_script(
                "return /^[0-9]+ of/.test(found.textContent) && !found.textContent.includes(', page 1 of 200')"
            )
        )
        return opened, time.perf_counter() - start
    finally:
        driver.quit()


if __name__ == "__main__":
    raise SystemExit(main())
