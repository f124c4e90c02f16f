"""The lists of several types at once."""

from __future__ import annotations

import json

import yaml

from kubectl_policy.questions.lists import Lists, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.forms import LISTS as FORMS
from kubectl_policy.render.lists import list_remarks
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import Line, View
from tests.render.schema import VALIDATOR
from tests.render.shown import shown
from tests.render.worlds import colourful

LISTS = Lists(tuple(list_type(colourful(), word, Selection()) for word in ("gateways", "grpcroutes", "services")))
EMPTY = Lists(tuple(list_type(colourful(), word, Selection("far")) for word in ("gateways", "grpcroutes")))


def test_there_is_a_table_for_each_type() -> None:
    """With an empty line between those that have rows, and the kind before the names, which can be pasted."""
    assert shown(LISTS, "table") == (
        "NAME                                  CLASS    PORTS     LISTENERS   ROUTES   POLICIES\n"
        "gateway.gateway.networking.k8s.io/g   public   80, 443   2           1        2\n"
        "\n"
        "NAME        TYPE        PORTS      REFERRED BY           POLICIES\n"
        "service/s   ClusterIP   8080/TCP   HTTPRoute default/r   4\n"
    )
    coloured = render(FORMS, LISTS, "table", View(coloured=True))
    assert isinstance(coloured, tuple)
    assert coloured[2] == Line()
    assert shown(LISTS, "csv").count("\n\n") == 1
    assert shown(EMPTY, "table") == shown(EMPTY, "csv") == ""


def test_the_names_are_those_of_all_of_them() -> None:
    """In the order of the lists."""
    assert shown(LISTS, "name") == "gateway.gateway.networking.k8s.io/g\nservice/s\n"


def test_they_are_one_document() -> None:
    """Of the lists that single types have."""
    document = json.loads(shown(LISTS, "json"))
    VALIDATOR.validate(document)
    for item in document["items"]:
        VALIDATOR.validate(item)
    assert [item["kind"] for item in document["items"]] == ["GatewayList", "RouteList", "BackendList"]
    assert yaml.safe_load(shown(LISTS, "yaml")) == document


def test_what_stands_next_to_them() -> None:
    """An empty list next to others is no news; where all are empty, that is said once."""
    assert FORMS.headline(LISTS) == "1 Gateway. 0 GRPCRoutes. 1 Service."
    assert list_remarks(LISTS, empty=False) == []
    said = list_remarks(EMPTY, empty=True)
    assert said == [
        "No resources found in far namespace.",
        "hint: there is 1 Gateway in namespace default: add -n default",
    ]
