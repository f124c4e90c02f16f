"""A browser, and pages in it that the command made. Nothing may complain there, and nothing may leave the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import pytest
from playwright.sync_api import sync_playwright

from kubectl_policy.cli import run
from tests.programs import browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Request

# Nothing that a browser does of its own accord, and no sandbox, which root cannot have.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Printed(Protocol):
    """Runs the command line in this process."""

    def __call__(self, *arguments: str | Path) -> str:
        """What it prints on standard output."""
        ...


class Opened(Protocol):
    """Opens the page of a graph."""

    def __call__(self, *arguments: str | Path, address: str = "", dark: bool = False) -> Page:
        """The page that `graph -o html` makes with these arguments, once it is drawn."""
        ...


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a module."""
    program = browser()
    if not program:
        pytest.skip("no browser: apt install chromium, or KUBECTL_POLICY_CHROMIUM=PATH, or make programs")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """`printed("graph", "-o", "html", ...)`."""

    def call(*arguments: str | Path) -> str:
        run([str(argument) for argument in arguments])
        return capsys.readouterr().out

    return call


@pytest.fixture
def opened(chromium: Browser, printed: Printed, tmp_path: Path) -> Iterator[Opened]:
    """`opened("--offline", path)`; at the end, no page may have complained, or asked for anything but itself."""
    complaints: list[str] = []
    requests: list[str] = []
    pages: list[Page] = []
    file = tmp_path / "page" / "graph.html"
    file.parent.mkdir()

    def note(request: Request) -> None:
        # What is in the page itself, and the worker that it makes, are not asked for.
        if not request.url.startswith(("data:", "blob:")):
            requests.append(request.url.partition("#")[0])

    def call(*arguments: str | Path, address: str = "", dark: bool = False) -> Page:
        file.write_text(printed("graph", *arguments, "-o", "html"), "utf-8")
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        page = chromium.new_context(viewport={"width": 1400, "height": 900}, color_scheme=scheme).new_page()
        pages.append(page)
        page.set_default_timeout(15_000)
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", note)
        page.goto(f"{file.as_uri()}{address}")
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield call
    for page in pages:
        page.context.close()
    assert complaints == []
    assert set(requests) <= {file.as_uri()}
