"""The names of kinds, built in or from CustomResourceDefinitions, and of rules."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.kinds import (
    BUILT_IN,
    POLICY_LABEL,
    KindNames,
    is_kubernetes_own,
    known_kinds,
    names,
    names_in_crd,
    problem_of_definition,
    valid_definitions,
    with_article,
)
from kubectl_policy.model.refs import names_as_in, rule_names
from tests.build import crd, route, rule

WIDGET = GroupKind("example.com", "Widget")


def test_a_definition_without_a_kind_names_nothing() -> None:
    broken = replace(crd("Widget"), raw={"spec": {"names": "Widget"}})
    assert names_in_crd(broken) is None
    assert known_kinds([broken]) == known_kinds([])


@pytest.mark.parametrize("group", ["", "apps", "networking.k8s.io", "Example.com"])
def test_a_definition_that_there_cannot_be(group: str) -> None:
    """Of a kind of Kubernetes itself, or of a name that no API could have: it names nothing."""
    own = crd("Namespace", group, cluster_scoped=True)
    assert (names_in_crd(own), known_kinds([own])) == (None, known_kinds([]))


@pytest.mark.parametrize(
    ("kind", "group", "reason", "said"),
    [
        ("Wid get", "measured.example.com", "definition-refused", "no API can have a kind like 'Wid get'"),
        ("Widget", "Measured_example", "definition-refused", "no API can have a group like 'Measured_example'"),
        ("Namespace", "apps", "definition-refused", "Namespace.apps is a kind of Kubernetes itself"),
        ("HTTPRoute", GATEWAY_API, "policy-label", "is a kind that policies target, so the label"),
    ],
)
def test_what_of_a_definition_does_not_count(kind: str, group: str, reason: str, said: str) -> None:
    problem = problem_of_definition(crd(kind, group, labels={POLICY_LABEL: "Direct"}))
    assert problem is not None
    assert (problem.reason, said in problem.message) == (reason, True)


def test_a_definition_that_counts() -> None:
    assert problem_of_definition(crd("Widget")) is None


def test_the_oldest_of_several_definitions_counts() -> None:
    """An API server refuses the later ones, as the kind is taken."""
    older, newer = (replace(crd("Widget"), created=datetime(year, 1, 1, tzinfo=UTC)) for year in (2025, 2026))
    assert valid_definitions([newer, older]) == {WIDGET: older}


def test_a_definition_without_a_plural_is_given_one() -> None:
    """The plural is what an English speaker would try; objects live in a namespace unless said otherwise."""
    bare = replace(
        crd("Widget"), raw={"spec": {"group": "example.com", "names": {"kind": "Widget", "shortNames": ["wd", 3]}}}
    )
    assert names_in_crd(bare) == KindNames(WIDGET, "widgets", ("wd",), namespaced=True)


def test_a_definition_says_whether_its_objects_have_a_namespace() -> None:
    """`spec.scope: Cluster`."""
    assert known_kinds([crd("Widget", cluster_scoped=True)])[WIDGET].namespaced is False


def test_a_definition_beats_what_is_built_in() -> None:
    own = crd("Gateway", GATEWAY_API, cluster_scoped=True)
    assert known_kinds([own])[GroupKind(GATEWAY_API, "Gateway")].namespaced is False


def test_every_group_of_the_client_of_kubernetes_is_of_kubernetes() -> None:
    """The client for Python is generated from the API of Kubernetes: a module for each version of a group."""
    package = find_spec("kubernetes")
    assert package
    assert package.origin
    modules = Path(package.origin).parent.glob("client/api/*_api.py")
    groups = {group for module in modules for group in re.findall(r"'/apis/([a-z0-9.]+)/'", module.read_text("utf-8"))}
    assert len(groups) > 20
    assert {group for group in groups if not is_kubernetes_own(GroupKind(group, "Any"))} == set()


def test_every_built_in_kind_is_named_once() -> None:
    """No kind, and no plural within a group, stands in the table twice."""
    assert len({names.group_kind for names in BUILT_IN}) == len(BUILT_IN)
    assert len({(names.group_kind.group, names.plural) for names in BUILT_IN}) == len(BUILT_IN)


def test_the_singular_is_the_kind_in_lower_case() -> None:
    """As `kubectl get httproute` is typed."""
    assert KindNames(GroupKind(GATEWAY_API, "HTTPRoute"), "httproutes").singular == "httproute"


def test_how_names_are_written() -> None:
    """`Kind.group`, `Kind namespace/name`, `#section`, `file:line`."""
    gateway = ObjectRef(GroupKind(GATEWAY_API, "Gateway"), "infra", "edge")
    assert str(gateway.group_kind) == "Gateway.gateway.networking.k8s.io"
    assert str(GroupKind("", "Service")) == "Service"
    assert str(NodeRef(gateway)) == "Gateway infra/edge"
    assert str(NodeRef(gateway, "http")) == "Gateway infra/edge#http"
    assert NodeRef(gateway).kind == "Gateway"
    assert str(ObjectRef(GroupKind("", "Namespace"), "", "infra")) == "Namespace infra"
    assert str(Origin("a.yaml", 3)) == "a.yaml:3"
    assert str(Origin("context kind")) == "context kind"


@pytest.mark.parametrize(
    "spoken",
    [
        *(
            "a Gateway",
            "an HTTPRoute",
            "an HttpListenerOption",
            "a GRPCRoute",
            "a TLSRoute",
            "a TCPRoute",
            "a UDPRoute",
        ),
        *("a Service", "a ServiceImport", "an XListenerSet", "an AuthPolicy", "an OIDCPolicy", "an IAMAuthPolicy"),
        *(
            "an UpstreamSettingsPolicy",
            "a UserPolicy",
            "a UnitPolicy",
            "an EnvoyProxy",
            "a GCPBackendPolicy",
            "a WAFPolicy",
        ),
        *("an inherited", "a direct", "a ", "an ObservabilityPolicy.gateway.nginx.org", "a K8sThing"),
    ],
)
def test_the_article_of_a_kind(spoken: str) -> None:
    """As it is spoken, letter by letter where a name begins with capitals."""
    assert with_article(spoken.partition(" ")[2]) == spoken


def test_many_objects_are_named_by_the_first_ones() -> None:
    refs = [ObjectRef(WIDGET, "a", name) for name in "bcdef"]
    assert names(refs[:2]) == "Widget a/b and Widget a/c"
    assert names(refs) == "Widget a/b, Widget a/c, Widget a/d and 2 others"


def test_rules_without_a_name_of_their_own_are_numbered() -> None:
    """An unnamed rule is `rule[i]`, and so is the second of two with one name."""
    found = route(rules=[rule(name="api"), rule(), rule(name="api")])
    assert rule_names(found.raw) == ("api", "rule[1]", "rule[2]")


def rules_of(word: str) -> dict[str, Json]:
    """A route with a rule for each letter that it matches; a capital one has that name."""
    found = [
        rule(matches=[{"path": {"value": f"/{letter.lower()}"}}], name=letter if letter.isupper() else "")
        for letter in word
    ]
    return dict(route(rules=found).raw)


@pytest.mark.parametrize(
    ("earlier", "later", "called"),
    [
        ("ab", "ab", "rule[0] rule[1]"),
        ("ab", "nab", "rule[1] rule[2]"),
        ("abc", "anbc", "rule[0] rule[2] rule[3]"),
        ("ab", "ba", "rule[1] rule[0]"),
        ("abc", "bc", "former rule[0] rule[0] rule[1]"),
        ("abc", "ac", "rule[0] former rule[1] rule[1]"),
        ("ab", "a", "rule[0] rule[1]"),
        ("ab", "ax", "rule[0] rule[1]"),
        ("ab", "xy", "rule[0] rule[1]"),
        ("ab", "xa", "rule[1] former rule[1]"),
        ("aa", "aaa", "rule[0] rule[1]"),
        ("aab", "baa", "rule[2] rule[1] rule[0]"),
        ("aa", "xyaa", "rule[2] rule[3]"),
        ("Ab", "bA", "A rule[0]"),
        ("Ab", "NAb", "A rule[2]"),
        ("a", "A", "rule[0]"),
        ("", "a", ""),
        ("a", "", "rule[0]"),
    ],
)
def test_the_same_rule_has_the_same_name(earlier: str, later: str, called: str) -> None:
    """By its matches, then by its place; what is no more keeps its own name, unless it is another rule's now."""
    assert " ".join(names_as_in(rules_of(later), rules_of(earlier))) == called
