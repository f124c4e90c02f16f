"""Objects that are not in the input and that something there names: they can be asked about."""

from __future__ import annotations

from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, PolicyKindProfile, analyze, what_if
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import GroupKind, NodeRef, Resource
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.shared.selection import find
from kubectl_policy.questions.why_not.answer import why_not
from tests.build import backend, gateway, listener, node, policy, ref, route, rule, service, snapshot, target
from tests.questions.build import color_kind
from tests.render.shown import document_of, headline, shown

ISSUER: Final = RequiredObject(
    field="spec.issuerRef",
    group="cert.example.com",
    kinds=("Issuer", "ClusterIssuer"),
    cluster_kinds=frozenset({"ClusterIssuer"}),
    optional=True,
)
CERTS: Final = PolicyKindProfile(
    GroupKind("example.com", "CertPolicy"), "direct", "profile", needs=(ISSUER,), stanzas="none"
)
COLOURS: Final = color_kind("inherited", strategy=None)
TLS: Final[dict[str, Any]] = {"certificateRefs": [{"name": "cert"}]}
ROUTE: Final = route(rules=[rule(backend("s")), rule(backend("ghost"))])


def world(*objects: Resource, complete: bool = False, assumed: str = "") -> Analysis:
    """A Gateway with a certificate, a route, and policies that name what is not there."""
    certs = policy("certs", target("g"), kind="CertPolicy", issuerRef={"kind": "ClusterIssuer", "name": "le"})
    colours = policy("c", target("g"), colour="red", keyRef={"name": "k", "kind": "Secret"})
    there = (gateway("g", listener(), listener("tls", "HTTPS", 443, tls=TLS)), ROUTE, service("s"), certs, colours)
    state = snapshot(*there, *objects, complete=complete)
    if assumed:
        state = replace(state, assumed=(AssumedObjects.parse(assumed),))
    return analyze(state, profiles=[CERTS, COLOURS])


@pytest.mark.parametrize(
    ("word", "name", "found"),
    [
        ("secret", "k", "Secret default/k"),
        ("secret", "cert", "Secret default/cert"),
        ("svc", "ghost", "Service default/ghost"),
        ("clusterissuer", "le", "ClusterIssuer le"),
    ],
)
def test_what_something_names_is_found(word: str, name: str, found: str) -> None:
    """By a policy, a listener or a route; not where the input is all that there is, or what nothing names."""
    assert str(find(world(), word, name, "default")) == found
    with pytest.raises(NotFoundError):
        find(world(complete=True), word, name, "default")
    with pytest.raises(NotFoundError):
        find(world(), word, f"{name}x", "default")


def test_describe() -> None:
    described = describe(world(), node("Secret", "k", group=""))
    assert headline(described).endswith("Secret default/k is not in the input: something there names it.")
    assert "ColorPolicy default/c seems to refer to it (spec.keyRef)" in shown(described, "tree")
    document: Any = document_of(described)
    assert (document["inInput"], document["referredToBy"][0]["guessed"]) == (False, True)
    assert document_of(describe(world(), node("Service", "s", group="")))["inInput"] is True


def test_blast_radius() -> None:
    answer = blast_radius(world(), ref("Secret", "k", group=""))
    assert "seems to refer to Secret default/k (spec.keyRef)" in headline(answer)
    assert headline(answer).endswith("Secret default/k is not in the input: it is assumed to exist.")
    lost = blast_radius(world(), find(world(), "clusterissuer", "le", "default"))
    assert "takes a target from CertPolicy default/certs" in headline(lost) or "CertPolicy" in headline(lost)
    assert lost.difference.attachments[0].after == "policy invalid"


def test_a_certificate() -> None:
    answer = blast_radius(world(service("ghost")), ref("Secret", "cert", group=""))
    (found,) = answer.difference.traffic.lost.some
    assert ([str(place) for place in found.lost], found.route.name) == (["Gateway default/g#tls"], "r")


class TestDoubts:
    """What is not in the input is said to be so where the answer depends on it, and nowhere else."""

    def test_where_it_matters(self) -> None:
        (unseen,) = describe(world(), node("Gateway", "g")).unseen
        assert unseen.what == "ClusterIssuer le"
        assert unseen.remedy == "add the manifest that contains it, or --assume-exists clusterissuer"

    def test_below_it(self) -> None:
        """A direct policy changes nothing there; nor does it for another policy, or for traffic."""
        assert describe(world(), node("HTTPRoute", "r")).unseen == ()
        colours = ref("ColorPolicy", "c", group="example.com")
        assert why_not(world(), colours, node("HTTPRoute", "r")).unseen == ()
        service_there = service("ghost")
        assert blast_radius(world(service_there), ref("Service", "s", group="")).difference.unseen == ()
        assert blast_radius(world(service_there), ref("Gateway", "g")).difference.unseen == ()

    def test_where_its_settings_change(self) -> None:
        """Those that it brings may be none; of those that go, at most that is lost which is said."""
        certs = ref("CertPolicy", "certs", group="example.com")
        assert blast_radius(world(), certs).difference.unseen == ()
        issued = {"issuerRef": {"kind": "ClusterIssuer", "name": "other"}}
        other = policy("other", target("g", section="tls"), kind="CertPolicy", **issued)  # type: ignore[arg-type]
        difference = diff(what_if(world(), applied=[other]))
        assert [each.what for each in difference.unseen] == ["ClusterIssuer other"]

    def test_what_is_assumed(self) -> None:
        gate = node("Gateway", "g")
        assert describe(world(assumed="clusterissuer"), gate).unseen == ()
        closed = world(assumed="clusterissuer/le", complete=True)
        assert [ref.name for ref in describe(closed, gate).policies] == ["certs", "c"]
        assert [ref.name for ref in describe(world(complete=True), gate).policies] == ["c"]
        assert closed.index.assumed_refs[0].name == "le"


def test_what_nobody_names_is_refused() -> None:
    with pytest.raises(NotFoundError, match="Secret default/x is not in the input") as found:
        world().require(NodeRef(ref("Secret", "x", group="")))
    assert found.value.hint == "the input has no Secret"
