"""The report opens without a network, says the verdict first, and draws its plots."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from analysis.figures import FIGURES
from analysis.queries import queries
from analysis.report import write_report
from testbed.core.errors import BadInput
from tests.analysis.builders import simulate, write_trace

pytestmark = pytest.mark.spark

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

LATE = {"p50": 100_000, "p99": 9_000_000, "max": 20_000_000, "count": 4, "budget": 5_000_000}

PROBE = """<script>
const drawn = {};
for (const figure of document.querySelectorAll('figure')) {
  const marks = [...figure.querySelectorAll('svg .mark-line path, svg .mark-rect path')];
  drawn[figure.id] = {
    width: figure.querySelector('svg').getBoundingClientRect().width,
    marks: marks.filter(mark => Math.max(mark.getBBox().width, mark.getBBox().height) > 50).length,
  };
}
const wide = document.documentElement.scrollWidth > window.innerWidth;
document.documentElement.setAttribute('data-probe', JSON.stringify({drawn, wide}));
</script>"""


@pytest.fixture(scope="module")
def report(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid run that came late, and one that breaks causal order."""
    out = tmp_path_factory.mktemp("report")
    runs = [
        simulate(out, "ks", messages=150, warmup=20, engine="ray", lateness_ns=LATE),
        simulate(out, "immediate", messages=150, warmup=20, warnings=["<b>odd</b>"]),
    ]
    target = out / "report.html"
    write_report(spark, runs, target)
    return target


def text_of(page: str) -> str:
    body = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", body))


def test_the_worst_verdict_comes_first_with_its_reason(report: Path) -> None:
    page = report.read_text()
    banner = page.split('id="verdict"')[1].split("</section>")[0]
    assert "✗ invalid: 1 of 2 runs" in banner
    assert re.search(r"m\d+\.\d+ was delivered at p\d+ before m\d+\.\d+, but send m", banner)
    assert page.index('id="verdict"') < page.index("Comparison") < page.index("<svg")


def test_timing_that_is_not_to_be_trusted_is_said_loudly(report: Path) -> None:
    warnings = report.read_text().split('id="warnings"')[1].split("</section>")[0]
    assert "do not trust the timing" in warnings
    assert "9.0 ms" in warnings


def test_text_of_a_manifest_is_shown_and_not_obeyed(report: Path) -> None:
    assert "&lt;b&gt;odd&lt;/b&gt;" in report.read_text()


def test_the_page_needs_nothing_but_itself(report: Path) -> None:
    page = report.read_text()
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "<script" not in page
    assert "@import" not in page


def test_ids_are_unique_in_the_page(report: Path) -> None:
    ids = re.findall(r'\bid="([^"]*)"', report.read_text())
    assert len(ids) == len(set(ids))


def test_it_says_what_was_run_and_how_to_repeat_it(report: Path) -> None:
    words = text_of(report.read_text())
    for expected in ("latency:", "mean: 50ms", "causalbed run experiment.yaml", "causalbed audit"):
        assert expected in words


def test_every_figure_has_its_query() -> None:
    assert sorted(queries("figures")) == sorted(figure.name for figure in FIGURES)


def test_a_trace_that_cannot_be_measured_is_audited_all_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    steps = {"a": [("send", "a1", "b")], "b": [("deliver", "a1"), ("deliver", "a1")]}
    run = write_trace(tmp_path / "foreign", steps)
    write_report(spark, [run], tmp_path / "report.html")
    words = text_of((tmp_path / "report.html").read_text())
    assert "✗ invalid" in words
    assert "m0.1 was delivered at p1 more than once" in words
    assert "column 'control_ints' is missing" in words


def test_a_report_that_cannot_be_written_leaves_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = write_trace(tmp_path / "foreign", {"a": [("send", "a1", "b")]})
    (tmp_path / "taken").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        write_report(spark, [run], tmp_path / "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["foreign", "taken"]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [1200, 400])
def test_a_browser_draws_every_plot_and_has_nothing_to_complain_of(
    report: Path, tmp_path: Path, width: int
) -> None:
    probe = tmp_path / "probe.html"
    page = report.read_text()
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', page)
    assert policy is not None
    probe.write_text(page.replace(policy[0], "").replace("</body>", PROBE + "</body>"))
    assert browse(report, tmp_path / "profile", width)[1] == []
    dom, console = browse(probe, tmp_path / "profile", width)
    assert console == []
    found = re.search(r'data-probe="([^"]*)"', dom)
    assert found is not None
    seen: dict[str, Any] = json.loads(unescape(found[1]))
    assert sorted(queries("figures")) == sorted(seen["drawn"])
    for name, drawn in seen["drawn"].items():
        assert drawn["width"] > 0.7 * min(width, 460), name
        assert drawn["marks"] >= 1, name
    assert not seen["wide"], "the page scrolls sideways"


def browse(page: Path, profile: Path, width: int) -> tuple[str, list[str]]:
    """The page's DOM once it is drawn, and what the browser's console says."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={profile}", f"--window-size={width},1600", "--enable-logging=stderr",
            "--v=0", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
