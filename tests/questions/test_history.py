"""Tests of `questions/history.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from kubectl_policy import Analysis, TargetLevel
from kubectl_policy.model import FieldPath, GroupKind, Json, NodeRef, Origin, Resource
from kubectl_policy.model.authorship import Commit
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.questions.history import Change, History, Version, history
from tests import build
from tests.questions.build import COLOR, analyzed, color_kind

KIND: Final = color_kind("inherited")
ROUTE: Final = build.node("HTTPRoute", "r")
TWO_RULES: Final = build.route("r", rules=[build.rule(build.backend("s"), name=name) for name in ("a", "b")])
GATEWAY: Final = build.gateway("g", build.listener("http"), build.listener("https", port=443))


def state(*policies: Resource, route: Resource | None = TWO_RULES) -> Analysis:
    """A Gateway with two listeners, a route with two rules, and policies."""
    objects = (GATEWAY, build.service("s"), *((route,) if route else ()), *policies)
    return analyzed(*objects, profiles=[KIND])


def versions(*analyses: Analysis | None, first: bool = True) -> Iterator[Version]:
    for place, analysis in enumerate(analyses):
        commit = Commit(id=str(place), author="a", when="", subject="") if place else None
        last = place == len(analyses) - 1
        yield Version(commit=commit, analysis=analysis, is_first=last and first, is_cut=last and not first)


def on_line_7(origin: Origin, field: FieldPath, value: Json) -> int:
    del origin, field, value
    return 7


def asked(
    found: Iterator[Version],
    limit: int = 9,
    wanted: Callable[[GroupKind, str], bool] = lambda kind, field: field != kind.kind,
    subject: NodeRef = ROUTE,
) -> History:
    return history(found, subject, limit=limit, wanted=wanted, locate=on_line_7)


def settings(change: Change) -> dict[str, tuple[object, object, tuple[str, ...]]]:
    """The fields of a change, with the values before and after and the sections."""
    return {
        each.field: (each.before and each.before.value, each.after and each.after.value, each.sections)
        for each in change.settings
    }


def policy(name: str = "p", target: str = "r", section: str = "", **fields: str) -> Resource:
    reference = build.target(target, "HTTPRoute", section)
    return build.resource("ColorPolicy", name, {"targetRefs": [reference], **fields}, group="example.com")


def test_a_rule_that_pushes_others_down_is_no_change_of_these() -> None:
    own = replace(
        KIND,
        effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
        object_fields={"timeout": "rule.timeouts.request"},
    )

    def with_rules(*seconds: int) -> Analysis:
        """A route with a rule for each, of which the time-out and the path are so many."""
        rules = [
            build.rule(build.backend("s"), timeouts={"request": f"{each}s"}, matches=[{"path": {"value": f"/{each}"}}])
            for each in seconds
        ]
        objects = (GATEWAY, build.service("s"), build.route("r", rules=rules), policy(color="red"))
        return analyzed(*objects, profiles=[own])

    (change, *_) = asked(versions(with_rules(9, 1, 2), with_rules(1, 2)), wanted=lambda _, field: field != "").changes
    assert settings(change) == {"timeout": (None, "9s", ("rule[0]",)), "color": (None, "red", ("rule[0]",))}
    (change, *_) = asked(versions(with_rules(2), with_rules(1, 2))).changes
    assert settings(change)["timeout"] == ("1s", None, ("former rule[0]",))


def test_each_change_is_that_of_the_state_that_brought_it() -> None:
    red, blue = state(policy(color="red", size="1")), state(policy(color="blue"))
    found = asked(versions(blue, blue, red, state(policy(color="red", size="1")), state(), None))
    assert [change.commit and change.commit.id for change in found.changes] == ["1", "3", "4"]
    assert [change.sort for change in found.changes] == ["changed", "changed", "appeared"]
    assert settings(found.changes[0]) == {"color": ("red", "blue", ()), "size": ("1", None, ())}
    assert settings(found.changes[1]) == {"color": (None, "red", ()), "size": (None, "1", ())}
    assert settings(found.changes[2]) == {}
    assert (found.commits, found.more, found.shallow) == (5, False, False)
    first = found.changes[0].settings[0]
    assert first.after
    assert first.after.origin
    assert first.after.origin.line == 7


def test_what_is_not_committed_comes_first() -> None:
    found = asked(versions(state(policy(color="blue")), state(policy(color="red"))))
    assert found.changes[0].commit is None
    assert settings(found.changes[0]) == {"color": ("red", "blue", ())}


def test_a_setting_of_some_rules() -> None:
    both, one = policy(color="red"), policy("q", section="a", color="red")
    (change, _) = asked(versions(state(both, one), state(both))).changes
    assert settings(change) == {"color": ("red", "red", ("a",))}
    (setting,) = change.settings
    assert setting.before
    assert setting.after
    assert (setting.before.source.object.name, setting.after.source.object.name) == ("p", "q")


def test_no_more_is_read_than_is_wanted() -> None:
    def endless() -> Iterator[Version]:
        for number in range(9):
            yield Version(commit=None, analysis=state(policy(color=str(number))))
        raise AssertionError

    found = asked(endless(), limit=2)
    assert (len(found.changes), found.more) == (2, True)


def test_only_what_is_asked_for() -> None:
    red, blue = state(policy(color="red", size="1")), state(policy(color="blue", size="1"))
    assert not asked(versions(blue, red, first=False), wanted=lambda _, field: field == "size").changes
    assert not asked(versions(blue, red, first=False), wanted=lambda kind, _: kind != COLOR).changes


def test_the_object_itself() -> None:
    everywhere = build.route("r", parents=[build.parent("g")])
    http = build.route("r", parents=[build.parent("g", "http")])
    nowhere = build.route("r", parents=[build.parent("g", "none")])
    found = asked(versions(*(state(route=route) for route in (None, nowhere, http, everywhere, None))))
    deleted, lost, left, appeared = found.changes
    assert (deleted.sort, deleted.traffic) == ("deleted", "")
    assert (lost.sort, lost.traffic, lost.left) == ("changed", "lost", (build.node("Gateway", "g", "http"),))
    assert (left.traffic, left.left, left.joined) == ("", (build.node("Gateway", "g", "https"),), ())
    assert (appeared.sort, len(appeared.joined)) == ("appeared", 2)
    again = asked(versions(state(route=http), state(route=nowhere))).changes[0]
    assert (again.traffic, again.joined) == ("gained", (build.node("Gateway", "g", "http"),))


def test_where_the_clone_ends() -> None:
    """What was before is not known, so that nothing appears."""
    found = asked(versions(state(policy(color="red")), first=False))
    assert (found.changes, found.more, found.shallow) == ((), True, True)


def test_nothing_is_there_at_all() -> None:
    assert not asked(versions(None, state(route=None))).changes
