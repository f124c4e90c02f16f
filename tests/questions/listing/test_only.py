"""What is left of a list: policies in some states, and what is about a hostname."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.questions.lists import Lists, Only, list_names, list_type
from kubectl_policy.questions.object_rows import ListenerRow
from kubectl_policy.questions.shared.selection import Selection
from tests import build
from tests.render.worlds import colourful, defaults, world

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis

EVERY = Selection()


def policies(analysis: Analysis, *states: str) -> list[str]:
    """The policies in some states, in every namespace."""
    return [row.ref.name for row in list_type(analysis, "policies", EVERY, Only(states=frozenset(states))).rows]  # type: ignore[arg-type]  # of a test


def test_policies_are_left_by_their_state() -> None:
    """Without one, all of them."""
    assert policies(colourful(), "Conflicted") == ["second"]
    assert policies(colourful(), "Conflicted", "PartiallyEnforced") == ["base", "own", "second"]
    assert policies(colourful(), "Invalid") == []
    assert len(policies(colourful())) == 6


def test_what_is_left_out_may_be_in_that_state_after_all() -> None:
    """So the list says what it could not see of any policy."""
    analysis = world(defaults("p", build.target("unread", "GRPCRoute"), a=1))
    listing = list_type(analysis, "policies", EVERY, Only(states=frozenset({"Enforced"})))
    assert listing.rows == ()
    assert [thing.what for thing in listing.unseen] == ["GRPCRoute default/unread"]


@pytest.mark.parametrize("word", ["gateways", "policykinds", "routes"])
def test_only_policies_have_a_state(word: str) -> None:
    """To ask for that of anything else is wrong usage."""
    with pytest.raises(UsageError, match="has no enforcement"):
        list_type(colourful(), word, EVERY, Only(states=frozenset({"Enforced"})))


@pytest.mark.parametrize("word", ["gateways", "policykinds", "policies"])
def test_only_routes_and_listeners_have_hostnames(word: str) -> None:
    """To ask for those of anything else is wrong usage."""
    with pytest.raises(UsageError, match="has no hostnames"):
        list_names(colourful(), word, EVERY, Only(hostname="a.example.com"))


def hosts() -> Analysis:
    """Routes with hostnames of their own, those of their listeners, and none."""
    return world(
        build.gateway(
            "h",
            build.listener("shop", hostname="*.shop.example"),
            build.listener("exact", hostname="pay.shop.example"),
            build.listener("tcp", "TCP", 9000),
        ),
        build.route("own", parents=[build.parent("h")], hostnames=["web.shop.example", "web.other.example"]),
        build.route("wild", parents=[build.parent("h", "shop")]),
        build.route("pay", parents=[build.parent("h", "exact")], hostnames=["*.shop.example"]),
        build.route("lost", parents=[build.parent("h", "gone")], hostnames=["web.shop.example"]),
        build.route("lone", parents=[]),
        build.route("mesh", parents=[build.service_parent("s")], hostnames=["web.shop.example"]),
        build.route("tcp", kind="TCPRoute", parents=[build.parent("h", "tcp")]),
        complete=True,
    )


@pytest.mark.parametrize(
    ("hostname", "expected"),
    [
        ("web.shop.example", ["lost", "mesh", "own", "r", "wild"]),
        ("WEB.shop.example", ["lost", "mesh", "own", "r", "wild"]),
        ("pay.shop.example", ["pay", "r"]),
        ("web.other.example", ["r"]),
        ("a.b.shop.example", ["r", "wild"]),
        ("shop.example", ["r"]),
        ("*.shop.example", ["lost", "mesh", "own", "pay", "r", "wild"]),
        ("", ["lone", "lost", "mesh", "own", "pay", "r", "tcp", "wild"]),
    ],
)
def test_routes_are_looked_up_by_hostname(hostname: str, expected: list[str]) -> None:
    """As their listeners let requests in; what is attached to nothing is found by what it asks for."""
    only = Only(hostname=hostname)
    assert [row.ref.name for row in list_type(hosts(), "routes", EVERY, only).rows] == expected
    assert [row.ref.name for row in list_names(hosts(), "routes", EVERY, only).rows] == expected


def test_listeners_are_looked_up_by_hostname() -> None:
    """Those whose hostname may match."""
    found = list_type(hosts(), "listeners", Selection(names=("h",)), Only(hostname="web.shop.example"))
    assert [row.listener.name for row in found.rows if isinstance(row, ListenerRow)] == ["shop", "tcp"]


def test_several_lists_lack_what_each_of_them_lacks() -> None:
    """Each thing once."""
    analysis = world(defaults("p", build.target("unread", "GRPCRoute"), a=1))
    one = list_type(analysis, "policies", EVERY)
    assert Lists((one, one)).unseen == one.unseen != ()
