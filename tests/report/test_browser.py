"""The page in a real browser, from disk: no error, no request, right numbers, search, injection, themes, keyboard."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from judgekit.analysis.triage import triage
from judgekit.report.model import share
from judgekit.report.write import write_report
from judgekit.stats.operating_point import operating_point
from tests.report.runs import EVIL, evil, planted, write_run

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytest.importorskip("selenium", reason="selenium is not installed: pip install 'clinical-judgekit[dev]'")
if CHROMIUM is None or DRIVER is None:
    pytest.skip(
        "no chromium and chromedriver here (Debian: apt-get install chromium chromium-driver)", allow_module_level=True
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(CHROMIUM)
    words = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1366,900"]
    if os.geteuid() == 0:
        words.append("--no-sandbox")  # Chromium has no sandbox for root, which is who a container often is
    for word in words:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    driver.set_script_timeout(20)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("browser") / "run", [*planted(3), evil()])


@pytest.fixture(scope="module")
def page(run: Path) -> Path:
    return write_report(run, run.parent / "page.html")


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    browser.get("about:blank")  # else the address would change its end only, and keep the page as the last test left it
    browser.get(page.as_uri() + "#records")  # an address opens its panel
    wait(browser, "document.documentElement.dataset.ready === 'yes'")
    return browser


def wait(browser: Any, condition: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20).until(lambda driver: driver.execute_script(f"return {condition}"))


def text(browser: Any, name: str) -> str:
    return str(browser.execute_script("return document.getElementById(arguments[0]).textContent", name)).replace(
        "\u00a0", " "
    )


def choose(browser: Any, name: str, value: str, event: str = "change") -> None:
    browser.execute_script(
        "const at = document.getElementById(arguments[0]); at.value = arguments[1];"
        "at.dispatchEvent(new Event(arguments[2], {bubbles: true}))",
        name, value, event,
    )  # fmt: skip


def test_no_error_and_no_request(browser: Any, page: Path) -> None:
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(page.as_uri())
    wait(browser, "document.documentElement.dataset.ready === 'yes'")
    choose(browser, "find", "warfarin", "input")
    wait(browser, "!document.getElementById('found').textContent.startsWith('Unpacking')")
    assert browser.get_log("browser") == []
    asked = [
        message["params"]["request"]["url"]
        for message in (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [page.as_uri()]


def test_the_slider_shows_what_operating_point_gives(opened: Any, run: Path) -> None:
    rows = triage(run).operating_points
    drawn = [row for row in rows if row.auc.value is not None]
    for index, row in enumerate(drawn):
        used = row.cell.used
        label, score = row.cell.label[used] == 1, row.cell.score[used]
        lost = int((~row.cell.scored & (row.cell.label >= 0)).sum())
        choose(opened, "slider-row", str(index))
        for mille in (500, 700, 900, 965, 1000):
            choose(opened, "slider-recall", str(mille), "input")
            point = operating_point(label, score, Fraction(mille, 1000))
            assert point.flagged is not None
            n = point.n
            assert text(opened, "point-threshold") == f"≤ {point.threshold:g}"
            assert text(opened, "point-workload") == f"{share(point.flagged, n)} ({point.flagged:g} of {n:g})"
            assert (
                text(opened, "point-recall")
                == f"{share(point.caught, point.n_incomplete)} ({point.caught:g} of {point.n_incomplete:g})"
            )
            assert text(opened, "point-missed") == f"{point.missed:g}"
            assert text(opened, "point-precision") == share(point.caught, point.flagged)
            assert text(opened, "point-workload_all") == share(point.flagged + lost, n + lost)
            assert text(opened, "point-specificity") == share(
                n - point.n_incomplete - (point.false_alarms or 0), n - point.n_incomplete
            )
            assert float(text(opened, "point-wss")) == pytest.approx(point.wss, abs=5e-4)
            assert float(text(opened, "point-false_alarms_per_catch")) == pytest.approx(
                point.false_alarms_per_catch, abs=5e-3
            )
            assert text(opened, "slider-target") == share(mille, 1000).replace(".0 %", " %")


def test_the_page_without_its_script_says_the_same_as_with_it(opened: Any, page: Path) -> None:
    from tests.report.test_page import Page

    plain = Page(page.read_text("utf-8")).text
    for name in (
        "threshold",
        "workload",
        "workload_all",
        "recall",
        "missed",
        "precision",
        "specificity",
        "wss",
        "unread_risk",
    ):
        assert text(opened, f"point-{name}") in plain


def test_the_slider_moves_the_marks_and_goes_back(opened: Any) -> None:
    place = "return document.querySelector('[data-kind=workload][data-mark=\"0\"]').getAttribute('transform')"
    first = opened.execute_script(place)
    choose(opened, "slider-recall", "500", "input")
    assert opened.execute_script(place) != first
    opened.execute_script("document.getElementById('slider-reset').click()")
    numbers = [
        [float(v) for v in where.removeprefix("translate(").removesuffix(")").split()]
        for where in (first, opened.execute_script(place))
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.01)


def test_search_filters_and_pages(opened: Any) -> None:
    records = [*planted(3), evil()]
    assert f"{len(records)} of {len(records)} records" in text(opened, "found")
    expected = [r.id for r in records if "grapefruit" in json.dumps(r.to_dict(), ensure_ascii=False).lower()]
    choose(opened, "find", "GRAPEFRUIT", "input")
    wait(
        opened,
        "document.getElementById('found').textContent.startsWith(arguments[0])".replace(
            "arguments[0]", f"'{len(expected)} of'"
        ),
    )
    shown = opened.execute_script(
        "return [...document.querySelectorAll('#records-table .open')].map(b => b.textContent)"
    )
    assert shown == expected[:25]
    choose(opened, "find", "", "input")
    wait(opened, f"document.getElementById('found').textContent.startsWith('{len(records)} of')")
    opened.execute_script("document.getElementById('page-on').click()")
    assert "page 2 of" in text(opened, "found")
    choose(opened, "find-label", "incomplete")
    bad = sum(1 for r in records if next(x for x in reversed(r.labels)).complete is False)
    wait(opened, f"document.getElementById('found').textContent.startsWith('{bad} of')")


def test_records_sort_by_every_column_and_the_address_keeps_it(opened: Any, page: Path) -> None:
    shown = "return [...document.querySelectorAll('#records-table tbody tr:not(.more)')].map(tr => tr.cells[arguments[0]].innerText)"
    count = opened.execute_script("return document.querySelectorAll('#records-table .sort').length")
    assert count == opened.execute_script("return document.querySelector('#records-table tbody tr').cells.length")
    for column in range(count):
        for way in ("ascending", "descending"):
            opened.execute_script("document.querySelectorAll('#records-table .sort')[arguments[0]].click()", column)
            wait(
                opened,
                f"document.querySelectorAll('#records-table th')[{column}].getAttribute('aria-sort') === '{way}'",
            )
        if column >= 5:  # scores: highest first, what is unscored last
            values = [float(value) for value in opened.execute_script(shown, column) if value != "–"]
            assert values == sorted(values, reverse=True)
    choose(opened, "find-label", "incomplete")
    address, before = opened.current_url, opened.execute_script(shown, 0)
    assert "label=incomplete" in address
    opened.get("about:blank")
    opened.get(address)
    wait(opened, "document.documentElement.dataset.ready === 'yes'")
    assert opened.execute_script(shown, 0) == before


def test_outcomes_are_those_of_the_operating_point(opened: Any, run: Path) -> None:
    for index, row in enumerate(triage(run).operating_points):
        if row.point.threshold is None:
            continue
        choose(opened, "find-row", str(index))
        for letter, count in (("m", row.point.missed), ("c", row.point.caught), ("f", row.point.false_alarms)):
            choose(opened, "find-outcome", letter)
            wait(opened, f"document.getElementById('found').textContent.startsWith('{count:g} of')")
        choose(opened, "find-outcome", "")


def test_a_record_that_tries_to_escape_stays_text(opened: Any) -> None:
    choose(opened, "find", "onerror=alert", "input")
    wait(opened, "document.getElementById('found').textContent.startsWith('1 of')")
    opened.execute_script("document.querySelector('#records-table .open').click()")
    wait(opened, "document.querySelector('#records-table .more .record') !== null")
    assert opened.title.endswith("judgekit report")
    assert opened.execute_script("return document.querySelectorAll('img').length") == 0
    answer = opened.execute_script("return [...document.querySelectorAll('.more pre')].map(p => p.textContent)")
    assert EVIL in answer
    assert opened.execute_script("return document.querySelectorAll('script').length") == opened.execute_script(
        "return document.querySelectorAll('body script').length"
    )
    assert opened.get_log("browser") == []


def test_a_record_opens_with_the_keyboard_and_shows_prompt_reply_and_rationale(opened: Any) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    from judgekit.rubric import load_rubric

    record = planted(3)[1]
    button = opened.find_elements(By.CSS_SELECTOR, "#records-table .open")[1]
    assert button.text.endswith(record.id)
    button.send_keys(Keys.ENTER)
    wait(opened, "document.querySelector('#records-table .more:not([hidden]) .record') !== null")
    assert button.get_attribute("aria-expanded") == "true"
    texts = opened.execute_script(
        "return [...document.querySelectorAll('.more:not([hidden]) pre')].map(p => p.textContent)"
    )
    assert record.response in texts
    assert record.labels[0].rationale in texts
    sent = load_rubric("analytical-rubric").asks(record)[0].messages
    assert "\n\n".join(f"[{m['role']}]\n{m['content']}" for m in sent) in texts


def test_dark_light_and_the_toggle(opened: Any) -> None:
    paint = "return getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        opened.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        seen[scheme] = opened.execute_script(paint)
    assert seen["light"] != seen["dark"]
    for theme in ("light", "dark"):
        opened.execute_script("document.getElementById('theme').click()")
        assert text(opened, "theme") == f"Theme: {theme}"
        assert opened.execute_script(paint) == seen[theme]
    opened.execute_script("document.getElementById('theme').click()")
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# 718 pixels are what an A4 page has between margins of 10 mm.
@pytest.mark.parametrize(("width", "media"), [(390, ""), (820, ""), (1366, ""), (718, "print")])
def test_nothing_is_wider_than_its_place_also_in_print(opened: Any, width: int, media: str) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": []})
    opened.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    wide = "return [...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth && !['inline', 'none'].includes(getComputedStyle(e).display) && !e.closest('select, .sr, svg')).map(e => e.outerHTML.slice(0, 200))"
    assert opened.execute_script(wide) == []
    drawings = "return [...document.querySelectorAll('svg.chart')].filter(e => e.getBoundingClientRect().right > innerWidth).length"
    assert opened.execute_script(drawings) == 0
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_first_screen_has_one_headline_one_figure_and_one_table(opened: Any) -> None:
    opened.execute_script("for (const each of document.querySelectorAll('details')) each.open = false; scrollTo(0, 0)")
    seen = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length"
    assert [opened.execute_script(seen, kind) for kind in (".says", "svg.chart", "table")] == [1, 1, 1]
    for kind in (".says", "svg.chart", ".card.wide table"):  # all three begin on a screen of 900 pixels
        assert opened.execute_script(f"return document.querySelector('{kind}').getBoundingClientRect().top") < 700
    assert opened.execute_script("return document.querySelector('.card.wide thead tr').cells.length") <= 7


def test_print_opens_what_is_folded_and_folds_it_again(opened: Any) -> None:
    folded = "return [...document.querySelectorAll('details:not(.data):not([open])')].length"
    before = opened.execute_script(folded)
    assert before > 10
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert opened.execute_script(folded) == 0
    opened.execute_script("dispatchEvent(new Event('afterprint'))")
    assert opened.execute_script(folded) == before


@pytest.mark.parametrize("width", [390, 1366])
def test_no_word_of_a_drawing_is_cut(opened: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    cut = """return [...document.querySelectorAll('svg.chart text')].filter(t => {
        const a = t.getBoundingClientRect(), b = t.closest('svg').getBoundingClientRect();
        return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1; }).map(t => t.textContent)"""
    assert opened.execute_script(cut) == []
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_print_is_light_whatever_the_screen_is(opened: Any) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    opened.execute_script("document.documentElement.dataset.theme = 'dark'")
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    assert opened.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.execute_script("return getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
