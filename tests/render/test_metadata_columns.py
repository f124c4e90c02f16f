"""Columns for objects of any kind: their age, their labels, and whether controllers accept them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_policy.questions.lists import Lists, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render import lists, metadata_columns
from kubectl_policy.render.metadata_columns import age
from kubectl_policy.render.output.text import View
from tests import build
from tests.build import EPOCH, with_metadata
from tests.questions.build import analyzed

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0s"),
        (119, "119s"),
        (120, "2m"),
        (599, "9m59s"),
        (600, "10m"),
        (179 * 60 + 59, "179m"),
        (3 * 3600, "3h"),
        (7 * 3600 + 61, "7h1m"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (7 * 86400 + 3600, "7d1h"),
        (8 * 86400, "8d"),
        (729 * 86400, "729d"),
        (731 * 86400, "2y1d"),
        (8 * 365 * 86400 + 86400, "8y"),
    ],
)
def test_an_age_is_written_as_kubectl_does(monkeypatch: pytest.MonkeyPatch, seconds: int, text: str) -> None:
    monkeypatch.setattr(metadata_columns, "now", lambda: EPOCH + timedelta(seconds=seconds))
    assert (age(EPOCH).text, age(None).text) == (text, "<unknown>")


def rows(type_name: str, *resources: Resource, view: View = View(namespaces=True)) -> list[list[str]]:  # noqa: B008 (a value)
    """The cells of the columns of `-o table`."""
    [table] = lists.list_tables(Lists((list_type(analyzed(*resources), type_name, Selection()),)), view)
    return [line.split("   ") for line in table.text(view, wide=False).splitlines()]


def column(title: str, *arguments: Any, **options: Any) -> list[str]:  # noqa: ANN401 (those of `rows`)
    header, *lines = ([cell.strip() for cell in filter(None, line)] for line in rows(*arguments, **options))
    return [line[header.index(title)] for line in lines] if title in header else []


def of_server(resource: Resource) -> Resource:
    return with_metadata(resource, uid="u")


def accepted(status: str, seen: int = 1) -> dict[str, Json]:
    return {
        "parentRef": {"name": "g"},
        "ancestorRef": {"name": "g"},
        "controllerName": "example.com/gateway",
        "conditions": [{"type": "Accepted", "status": status, "reason": "Because", "observedGeneration": seen}],
    }


def route(name: str, *parents: Json) -> Resource:
    status: Json = {"parents": list(parents)} if parents else None
    spec: Json = {"parentRefs": [build.parent()]}
    return with_metadata(build.resource("HTTPRoute", name, spec, status=status), generation=1)


def test_objects_of_a_server_have_an_age() -> None:
    """A time that a person wrote into a manifest is none, and without any age there is no column."""
    old, new = (of_server(build.resource("Gateway", name, {}, age=minutes)) for name, minutes in (("a", 0), ("b", 90)))
    assert column("AGE", "gateways", old, new) == ["120m", "30m"]
    written = build.resource("Gateway", "c", {}, age=0)
    assert column("AGE", "gateways", new, written) == ["30m", "<unknown>"]
    assert column("AGE", "gateways", written) == []
    policy = of_server(build.policy("p", build.ON_GATEWAY, age=0))
    assert column("AGE", "policies", policy) == ["120m"]


def test_an_age_makes_room_for_all_else() -> None:
    gateway = of_server(build.resource("Gateway", "a", {"gatewayClassName": "public"}, age=0))
    header, line = ("   ".join(cells).rstrip() for cells in rows("gateways", gateway))
    for width, title, age_ in ((len(header), "AGE", "120m"), (len(header) - 1, "POLICIES", "0")):
        view = View(width=max(width, len(line)) - (title != "AGE"), terminal=True, namespaces=True)
        shown = rows("gateways", gateway, view=view)
        assert (shown[0][-1].strip(), shown[1][-1].strip()) == (title, age_)
    assert "   ".join(shown[2]) == "(no room for AGE: --show-all shows everything)"


def test_what_controllers_accept_is_shown_if_any_says_so() -> None:
    yes, no, old = accepted("True"), accepted("False"), accepted("False", seen=0)
    routes = [route("a", yes), route("b", yes, no), route("c", no), route("d", old), route("e")]
    assert column("ACCEPTED", "routes", *routes) == ["True", "1 of 2", "False", "False (stale)", "<unknown>"]
    assert column("ACCEPTED", "routes", route("e")) == []


def test_labels_are_columns_where_they_are_asked_for() -> None:
    labelled = build.resource("Gateway", "a", {}, labels={"app": "x", "b.c/tier": "t", "name": "n"})
    view = View(namespaces=True, labels=True, label_columns=("app", "b.c/tier", "name", "nope"))
    header = rows("gateways", labelled, build.gateway("b"), view=view)[0]
    assert [title.strip() for title in header if title][-5:] == ["APP", "TIER", "LABEL NAME", "NOPE", "LABELS"]
    assert column("TIER", "gateways", labelled, build.gateway("b"), view=view) == ["t", "<none>"]
    assert column("LABEL NAME", "gateways", labelled, view=view) == ["n"]
    labels = column("LABELS", "gateways", labelled, build.gateway("b"), view=view)
    assert labels == ["app=x,b.c/tier=t,name=n", "<none>"]


def test_few_of_many_entries_are_shown_unless_all_are_asked_for() -> None:
    policy = build.policy("p", *(build.target(f"r{number}", "HTTPRoute") for number in range(12)))
    short = column("TARGETS", "policies", policy)
    assert short == [f"{', '.join(f'HTTPRoute default/r{number}' for number in range(10))}, 2 more"]
    [whole] = column("TARGETS", "policies", policy, view=View(namespaces=True, everything=True))
    assert whole.endswith("HTTPRoute default/r11")
