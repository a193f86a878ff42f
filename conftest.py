# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all tests share."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Numpy is imported later. Its own threads make small products slower, most of all on machines whose
# cores are busy with other tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell that starts us in the background makes us deaf to Ctrl-C, and so is whatever we start:
# a test that interrupts a command would wait for ever. A handler of our own is not inherited.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says nothing about whether it is right, and machines are busy.
settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that no worker is left alone with it in the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Folders that one test imports from, say those of agents, are not looked into by the next."""
    before = [*sys.path]
    try:
        return (yield)
    finally:
        sys.path[:] = before


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Hold a text against a golden file, or write the file with `--update-golden`."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        assert path.exists(), f"{path} is missing; run pytest --update-golden and read it"
        with path.open(encoding="utf-8", newline="") as file:  # a carriage return is data
            assert text == file.read()

    return check


# Not for the session: while Playwright runs, this thread has a running event loop, and tests of
# other modules could not run one of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium, without a network of its own. Ask for a new context in each test."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium found; browser tests must run where CI=true")
        pytest.skip("no Chromium found (Debian: apt-get install chromium)")
    quiet = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
    offline = ("--disable-background-networking", "--disable-component-update")
    sandbox = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=program, args=[*quiet, *offline, *sandbox]
        )
        yield launched
        launched.close()
