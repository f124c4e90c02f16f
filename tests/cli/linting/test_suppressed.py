"""What people do not want to hear of: annotations and comments, as the command heeds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.linting.conftest import SECTION, WORLDS, Lint

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("here")
WRONG = WORLDS["wrong.yaml"]
LISTED = "policy.kubectl.dev/ignore: GWP4002"
REASON = "policy.kubectl.dev/ignore-reason: soon"
SINGLE = "ignore.policy.kubectl.dev/GWP4: soon"


def annotated(*annotations: str) -> str:
    """The wrong world with annotations on the route."""
    more = f"name: cart, namespace: shop, annotations: {{{', '.join(annotations)}}}"
    return WRONG.replace("name: cart, namespace: shop, labels: {}", more)


def commented(comment: str, *, above: str = "  parentRefs") -> str:
    """The wrong world with a comment above a line of the route."""
    before, line, after = WRONG.rpartition(above)
    return f"{before}{' ' * (len(line) - len(line.lstrip()))}# kubectl-policy: {comment}\n{line}{after}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (annotated(LISTED), ("annotation", "")),
        (annotated(LISTED, REASON), ("annotation", "soon")),
        (annotated(SINGLE), ("annotation", "soon")),
        (commented("ignore GWP4002"), ("comment", "")),
        (commented("ignore parent-section-not-found, GWP1: soon"), ("comment", "soon")),
        (commented("ignore GWP4 until=2999-12-31 soon"), ("comment", "soon")),
        (WRONG.replace("htp}]", "htp}] # kubectl-policy: ignore GWP4 soon"), ("comment", "soon")),
    ],
)
@pytest.mark.parametrize("path", ["-", "all.yaml"])
def test_what_is_suppressed(lint: Lint, here: Path, path: str, text: str, why: tuple[str, str]) -> None:
    """It does not count, in files and on standard input; that it is so is said."""
    assert text != WRONG
    (here / "all.yaml").write_text(text)
    result = lint(path, "--select", "GWP4", stdin=text)
    assert (result.code, result.findings) == (0, [])
    assert [(suppression["how"], suppression["reason"]) for suppression in result.document["suppressed"]] == [why]
    assert result.said("suppressed")[0].endswith(SECTION)


@pytest.mark.parametrize(
    "text",
    [
        commented("ignore GWP1"),
        commented("ignore"),
        commented("ignored GWP4002"),
        commented("ignore GWP4002 until=2001-01-01"),
        commented("ignore GWP4002", above="  hostnames"),
        WRONG.replace("spec: {ports", "# kubectl-policy: ignore GWP4002\nspec: {ports"),
    ],
)
def test_what_is_not(lint: Lint, text: str) -> None:
    """What is about something else, no longer holds, or says nothing."""
    assert text != WRONG
    result = lint("-", "--select", "GWP4", stdin=text)
    assert (result.code, result.findings[-1].partition(" ")[2]) == (1, SECTION)


def test_a_whole_document(lint: Lint) -> None:
    """A comment above its first line is about all of it."""
    whole = WRONG.replace("---\napiVersion", "---\n# kubectl-policy: ignore GWP4002 not ours\napiVersion")
    assert lint("-", "--select", "GWP4", stdin=whole).findings == []


def test_it_is_shown_to_who_asks(command: Command, here: Path) -> None:
    (here / "all.yaml").write_text(commented("ignore GWP4002 soon"))
    result = command("lint", "all.yaml", "--show-all", "--select", "GWP4")
    assert result.code == 0
    assert result.out.startswith("Suppressed\n  all.yaml:20: suppressed GWP4002 parent-section-not-found: HTTPRoute ")
    assert result.out.splitlines()[1].endswith(" [NoMatchingParent] (comment: soon)")
    assert result.out.splitlines()[-1] == "No problems in 4 objects of 1 file; 1 suppressed."


def test_what_suppresses_nothing(lint: Lint) -> None:
    """It is found, unless its rules are not checked."""
    text = WORLDS["right.yaml"] + "# kubectl-policy: ignore GWP4002 soon\n"
    assert lint("-", stdin=text).findings == ["<stdin>:27 info GWP0007"]
    assert lint("-", "--ignore", "GWP4002", stdin=text).findings == []


@pytest.mark.parametrize("words", [["--require-reason"], ["--config", "strict.yaml"]])
def test_a_reason_may_be_required(lint: Lint, here: Path, words: list[str]) -> None:
    (here / "strict.yaml").write_text("require-reason: true\n")
    text = commented("ignore GWP4002")
    assert [finding.split()[2] for finding in lint("-", *words, stdin=text).findings] == ["GWP0012"]
    assert lint("-", stdin=text).findings == []
    assert lint("-", *words, stdin=commented("ignore GWP4002 soon")).findings == []


def test_what_was_suppressed_in_the_base_is_not_new(lint: Lint, here: Path) -> None:
    for folder, text in (("base", annotated(LISTED)), ("now", WRONG)):
        (here / folder).mkdir()
        (here / folder / "all.yaml").write_text(text)
    result = lint("now", "--select", "GWP4", "--diff-base", "base")
    assert (result.code, result.findings, len(result.said("known"))) == (0, [], 1)
