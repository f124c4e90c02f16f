"""The history of an object as text."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Origin
from kubectl_policy.model.authorship import Commit
from kubectl_policy.questions.history import Change, History, SettingChange
from kubectl_policy.questions.shared.in_force import Setting
from kubectl_policy.render.history import history_headline, history_text
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.resolution import Source
from tests import build

ROUTE: Final = build.node("HTTPRoute", "r")
GATEWAY: Final = build.node("Gateway", "g", "http")
KIND: Final = build.ref("ColorPolicy", "p", group="example.com").group_kind
COMMIT: Final = Commit(id="1a2b3c4d5e6f", author="Eve \x1b[2J", when="2026-01-03T10:00:00+01:00", subject="Paint it")
CHANGED: Final = "What is in force on HTTPRoute default/r changed in 1 of 3 commits"
PLAIN: Final = Change(commit=COMMIT, sort="changed", traffic="", left=(), joined=(), settings=())


def setting(value: str, name: str = "p", *, removed: bool = False) -> Setting:
    """A value that a policy sets; of the route's own with an empty name."""
    policy = build.ref("ColorPolicy", name, group="example.com") if name else ROUTE.object
    return Setting(
        field="color",
        value=value,
        source=Source(object=policy, target=ROUTE),
        removed=removed,
        certain=True,
        instead_of=(),
        origin=Origin("1a2b3c4d5e6f:in/a.yaml", 12) if name else None,
    )


def changed(before: Setting | None, after: Setting | None, *sections: str, field: str = "color") -> SettingChange:
    return SettingChange(policy_kind=KIND, field=field, before=before, after=after, sections=sections)


def about(*changes: Change, commits: int = 3, has_more: bool = False, shallow: bool = False) -> History:
    return History(subject=ROUTE, changes=changes, commits=commits, more=has_more, shallow=shallow)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (about(PLAIN), f"{CHANGED}."),
        (about(PLAIN, commits=1), "What is in force on HTTPRoute default/r changed in 1 commit."),
        (about(), "What is in force on HTTPRoute default/r changed in none of 3 commits."),
        (
            about(replace(PLAIN, commit=None)),
            "What is in force on HTTPRoute default/r changed in none of 3 commits, but on disk since.",
        ),
        (about(replace(PLAIN, commit=None), PLAIN), f"{CHANGED}, and on disk since."),
        (about(PLAIN, has_more=True, shallow=True), f"{CHANGED}; older commits are not in this shallow clone."),
        (
            about(PLAIN, has_more=True),
            "The last change to what is in force on HTTPRoute default/r; --limit shows more.",
        ),
        (
            about(PLAIN, PLAIN, has_more=True),
            "The last 2 changes to what is in force on HTTPRoute default/r; --limit shows more.",
        ),
    ],
)
def test_the_first_sentence(answer: History, sentence: str) -> None:
    assert history_headline(answer) == sentence


def test_a_block_for_each_commit() -> None:
    settings = (
        changed(setting("red"), setting("blue", "q"), "a"),
        changed(setting("red"), None, field="size.height"),
        changed(None, setting("5s", ""), field="timeout"),
        changed(setting("red"), setting("", removed=True), field="x"),
    )
    text = to_text(
        history_text(
            about(
                replace(PLAIN, commit=None, settings=settings),
                replace(PLAIN, traffic="lost", left=(GATEWAY,)),
                replace(PLAIN, traffic="gained", joined=(GATEWAY,)),
                replace(PLAIN, sort="deleted", commit=replace(COMMIT, subject="")),
                replace(PLAIN, sort="appeared", settings=(changed(None, setting("red")),)),
            ),
            View(),
        ),
        100,
    )
    assert text == (
        "What is in force on HTTPRoute default/r changed in 4 of 3 commits, and on disk since.\n"
        "\n"
        "not committed yet\n"
        "  ColorPolicy\n"
        "    color         red → blue   on rule a   default/q, in/a.yaml:12   was set by default/p\n"
        "    size.height   red → nothing   default/p, in/a.yaml:12\n"
        "    timeout       nothing → 5s   the route itself\n"
        "    x             red → removed   default/p, in/a.yaml:12\n"
        "\n"
        "1a2b3c4  2026-01-03 Eve \\x1b[2J  Paint it\n"
        "  requests no longer reach it\n"
        "  is no longer attached to Gateway default/g, listener http\n"
        "\n"
        "1a2b3c4  2026-01-03 Eve \\x1b[2J  Paint it\n"
        "  requests reach it again\n"
        "  is now attached to Gateway default/g, listener http\n"
        "\n"
        "1a2b3c4  2026-01-03 Eve \\x1b[2J\n"
        "  HTTPRoute default/r is deleted\n"
        "\n"
        "1a2b3c4  2026-01-03 Eve \\x1b[2J  Paint it\n"
        "  HTTPRoute default/r appears, with 1 setting in force\n"
        "  ColorPolicy\n"
        "    color   red   default/p, in/a.yaml:12\n"
    )


def test_a_terminal_shows_the_beginning() -> None:
    settings = tuple(changed(None, setting("x" * 99), field=f"f{number}") for number in range(11))
    change = replace(PLAIN, sort="appeared", settings=settings)
    short = to_text(history_text(about(change), View(terminal=True)), 100)
    assert "and 3 more settings; --show-all shows all 11" in short
    assert "x" * 50 not in short
    whole = to_text(history_text(about(change), View(terminal=True, everything=True)), 100)
    assert whole.count("x" * 99) == 11
