"""What the report's tests share: a browser, if there is one, and a loud word if there is none."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NO_BROWSER = "no Chromium on this machine"


def chromium():
    asked = os.environ.get("POMONA_CHROMIUM")
    return asked or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium. Without one its tests are left out, unless POMONA_NEEDS_BROWSER forbids that."""
    path = chromium()
    if path is None:
        if os.environ.get("POMONA_NEEDS_BROWSER"):
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = sorted({report.nodeid for report in skipped if NO_BROWSER in str(report.longrepr)})
    if left_out:
        terminalreporter.section("LEFT OUT", sep="!", red=True, bold=True)
        for test in left_out:
            terminalreporter.write_line(f"  {test}")
        terminalreporter.write_line(
            f"{len(left_out)} tests of the report in a browser were left out: {NO_BROWSER}. "
            "Debian: apt-get install chromium; elsewhere set POMONA_CHROMIUM to its path.",
            red=True,
            bold=True,
        )
