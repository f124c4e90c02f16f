"""Computed against reported: which policies and objects are asked about, and what is said of policies."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy import NodeRef
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import Gap, Json, Origin, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API_EXPERIMENTAL as XAPI
from kubectl_policy.profiles.controllers import STANDARD_STATUS, ConditionWords, Event, Placement
from kubectl_policy.questions.status.comparison import Claim, Comparison, OtherController, Verdict
from kubectl_policy.questions.status.report import StatusReport
from tests import build
from tests.questions.status.reports import (
    ACCEPTED,
    FINE,
    MINE,
    WORDS,
    WORKS,
    ancestor,
    compared,
    condition,
    kind,
    only,
    policy,
    reported,
    verdicts,
    world,
)

TAKEN = ("Seen", "False", "Taken")
G = "Gateway default/g"
WELL = ancestor(condition(FINE), condition(WORKS))
WRONG = ancestor(condition(TAKEN), condition(WORKS))
PEM = "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----"
AUTHORITY = build.resource("ConfigMap", "ca", group="", data={"ca.crt": PEM})


def tls(*authorities: str, name: str = "tls", age: int | None = None, **validation: Json) -> Resource:
    """A BackendTLSPolicy on Service `s`, with references to ConfigMaps if there are any."""
    references: Json = [{"group": "", "kind": "ConfigMap", "name": authority} for authority in authorities]
    spec: Json = {
        "targetRefs": [build.ON_SERVICE],
        "validation": {"caCertificateRefs": references, **validation} if authorities else validation,
    }
    return build.resource("BackendTLSPolicy", name, spec, age=age)


def asked(*policies: Resource, **options: object) -> StatusReport:
    """The report on policies in a world without other reports."""
    return compared(*world(), *policies, **options)  # type: ignore[arg-type]


def test_a_report_that_is_as_computed_agrees() -> None:
    report = asked(reported(policy(), ancestors=[WELL]))
    assert verdicts(report) == [("p", G, "Seen", "Agrees"), ("p", G, "Works", "Agrees")]
    assert not report.disagrees
    first = report.items[0].conditions[0]
    assert (first.controller, first.reported) == (MINE, Claim("True", "Fine", "said"))


@pytest.mark.parametrize("words", [("Seen", "False", "Fine"), ("Seen", "True", "Other")])
def test_another_status_or_reason_disagrees(words: tuple[str, str, str]) -> None:
    found = only(asked(reported(policy(), ancestors=[ancestor(condition(words), condition(WORKS))])))
    assert (found.verdict, found.explanation) == ("Differs", "none")
    assert found.at == build.node("Gateway", "g")
    assert found.computed == Claim("True", "Fine", "it is attached to HTTPRoute default/r")
    assert found.reported == Claim(words[1], words[2], "said")


def test_a_policy_that_claims_to_be_accepted_beside_an_older_one_disagrees() -> None:
    said = [ancestor(condition(FINE))]
    report = asked(reported(policy("old", age=1), ancestors=said), reported(policy("new", age=2), ancestors=said))
    wrong = [(one.resource.ref.name, found.computed) for one, found in report.comparisons if found.verdict == "Differs"]
    assert wrong == [
        ("new", Claim("False", "Taken", "ColorPolicy default/old is attached to HTTPRoute default/r already"))
    ]


def test_what_was_reported_on_something_else_is_missing() -> None:
    """The Gateway that should have an entry, and a condition that is not in an entry that there is."""
    other = ancestor(condition(FINE), condition(WORKS), name="h")
    report = asked(build.gateway("h"), reported(policy(), ancestors=[other]))
    assert verdicts(report) == [
        ("p", "Gateway default/h", "Seen", "NotExpected"),
        ("p", "Gateway default/h", "Works", "NotExpected"),
        ("p", G, "Seen", "NotReported"),
        ("p", G, "Works", "NotReported"),
    ]
    assert only(asked(reported(policy(), ancestors=[ancestor(condition(FINE))]))).verdict == "NotReported"


def test_a_policy_without_a_status_is_no_disagreement() -> None:
    report = asked(policy("p"), reported(policy("q"), ancestors=[]))
    assert [(one.resource.ref.name, one.has_status, one.conditions) for one in report.items if one.policy] == [
        ("p", False, ()),
        ("q", False, ()),
    ]
    assert not report.disagrees


def test_a_type_that_the_profile_does_not_know_is_not_compared() -> None:
    words: dict[Event, ConditionWords] = {**WORDS, "narrowed": ConditionWords("Narrowed", "True", "Below")}
    odd = [condition(("Narrowed", "False", "x")), condition(("Cached", "True", "x"))]
    said = reported(policy(), ancestors=[ancestor(condition(FINE), condition(WORKS), *odd)], conditions=odd)
    report = asked(said, profile=kind(words=words))
    assert [row for row in verdicts(report) if row[3] != "Agrees"] == [
        ("p", G, "Narrowed", "UnknownType"),
        ("p", G, "Cached", "UnknownType"),
        ("p", "", "Narrowed", "UnknownType"),
        ("p", "", "Cached", "UnknownType"),
    ]
    assert not report.disagrees
    claimed = ancestor(condition(FINE), condition(WORKS), condition(("Narrowed", "True", "Below")))
    assert only(asked(reported(policy(), ancestors=[claimed]), profile=kind(words=words))).verdict == "NotExpected"


def test_of_two_conditions_of_one_type_the_first_counts() -> None:
    """The list has its type as its key, so an API server lets in one alone."""
    said = ancestor(condition(FINE), condition(TAKEN), condition(WORKS))
    assert not asked(reported(policy(), ancestors=[said])).disagrees


def test_entries_of_other_controllers_are_their_business() -> None:
    mine, other = WELL, ancestor(condition(TAKEN), controller="other")
    report = asked(reported(policy(), ancestors=[other, mine, other]))
    assert report.items[0].other_controllers == (OtherController(build.node("Gateway", "g"), "other"),)
    assert not report.disagrees


def test_where_nobody_knows_the_controllers_the_gateways_own_one_counts() -> None:
    """And, if it wrote nothing, whoever did; on what belongs to no Gateway that is everybody."""
    nobody = kind(controllers=())
    mine, other = WELL, ancestor(condition(TAKEN), controller="other")
    report = asked(reported(policy(), ancestors=[other, mine]), profile=nobody)
    assert (report.disagrees, len(report.items[0].other_controllers)) == (False, 1)
    report = asked(reported(policy(), ancestors=[other]), profile=nobody)
    assert [found.verdict for _, found in report.comparisons] == ["Differs", "NotReported"]
    on_route = ancestor(condition(FINE), condition(WORKS), name="r", kind="HTTPRoute", controller="any")
    said = reported(policy(), ancestors=[on_route])
    assert not asked(said, profile=kind("targets", controllers=())).disagrees


def test_conditions_of_the_policy_itself() -> None:
    own = kind("policy")
    assert verdicts(asked(reported(policy(), conditions=[condition(FINE), condition(WORKS)]), profile=own)) == [
        ("p", "", "Seen", "Agrees"),
        ("p", "", "Works", "Agrees"),
    ]
    report = asked(reported(policy(), ancestors=[ancestor(controller="other")]), profile=own)
    assert [row[1:] for row in verdicts(report)] == [("", "Seen", "NotReported"), ("", "Works", "NotReported")]
    left_over = reported(policy("p", build.target("gone", "HTTPRoute")), conditions=[condition(WORKS)])
    report = asked(left_over, profile=own)
    assert [row[2:] for row in verdicts(report)] == [("Seen", "NotReported"), ("Works", "NotExpected")]


def test_nothing_is_claimed_of_a_policy_that_names_no_target() -> None:
    lost = build.resource("ColorPolicy", "p", {"targetRefs": [], "color": "x"}, group="example.com")
    said = reported(lost, conditions=[condition(FINE)], ancestors=[ancestor(condition(FINE))])
    placements: tuple[Placement, ...] = ("policy", "parents")
    for placement in placements:
        assert {row[3] for row in verdicts(asked(said, profile=kind(placement)))} == {"UnknownType"}


def test_what_depends_on_something_unread_is_undecided() -> None:
    unread = policy("p", build.target("far", "GRPCRoute"))
    found = only(asked(reported(unread, ancestors=[ancestor(condition(FINE))])))
    assert (found.verdict, found.explanation) == ("Undecided", None)
    assert [thing.what for thing in found.unseen] == ["GRPCRoute default/far"]


def test_whether_anything_is_below_may_be_unread_where_acceptance_is_clear() -> None:
    """Of a policy on a Gateway whose routes may not have been read, only what depends on these is undecided."""
    said = reported(policy("p", build.ON_GATEWAY), ancestors=[WRONG])
    resources = (build.gateway_class("public", MINE), build.gateway("g"), said)
    report = compared(*resources)
    assert [row[2:] for row in verdicts(report)] == [("Seen", "Differs"), ("Works", "Undecided")]
    assert [row[2:] for row in verdicts(compared(*resources, complete=True))] == [
        ("Seen", "Differs"),
        ("Works", "Differs"),
    ]


def test_where_a_class_was_not_read_nobody_has_to_report() -> None:
    gateway, route = build.gateway("g"), build.route("r")
    report = compared(gateway, route, build.service("s"), reported(policy(), conditions=[condition(FINE)]))
    missing = [found for _, found in report.comparisons if found.type == "Seen" and found.at]
    assert [found.verdict for found in missing] == ["Undecided"]
    assert [thing.what for thing in missing[0].unseen] == ["GatewayClass public"]
    lost = compared(route, build.service("s"), reported(policy(), conditions=[condition(FINE)]))
    assert [found.unseen[0].what for _, found in lost.comparisons if found.at] == [G]


def test_a_gateway_of_another_class_is_no_place_to_report() -> None:
    other = build.gateway_class("other", "other.example/controller")
    route = build.route("r", parents=[build.parent("g"), build.parent("h")])
    resources = (build.gateway_class("public", MINE), other, build.gateway("g"), build.gateway("h", class_name="other"))
    said = reported(policy(), ancestors=[WELL])
    assert not compared(*resources, route, build.service("s"), said, profile=kind("gateways")).disagrees


@pytest.mark.parametrize("seen", [2, 3, None])
def test_a_stale_report_explains_a_disagreement(seen: int | None) -> None:
    said = ancestor(condition(TAKEN, seen), condition(WORKS))
    found = only(asked(reported(policy(), 3, ancestors=[said])))
    assert (found.stale, found.observed_generation) == (seen == 2, seen)
    assert found.explanation == ("older generation" if seen == 2 else "none")


def test_a_stale_report_that_agrees_is_marked() -> None:
    """It agrees with what is computed now by chance, or because nothing that matters has changed."""
    report = asked(reported(policy(), 2, ancestors=[ancestor(condition(FINE, 1), condition(WORKS, 2))]))
    assert [(found.verdict, found.stale) for _, found in report.comparisons] == [("Agrees", True), ("Agrees", False)]


def explained(*resources: Resource, **options: object) -> str | None:
    report = compared(*resources, **options)  # type: ignore[arg-type]
    (found,) = (found for _, found in report.comparisons if found.disagrees)
    return found.explanation


def test_the_classes_in_the_input_explain_a_disagreement() -> None:
    """None of the kind's controllers, one that is refused, another one's, or none that was read."""
    wrong = reported(policy(), ancestors=[WRONG])
    rest = (build.gateway("g"), build.route("r"), build.service("s"), wrong)
    refused = build.gateway_class("public", MINE, {"conditions": [condition(("Accepted", "False", "Invalid"))]})
    other = build.gateway_class("public", "other")
    spare = build.gateway_class("spare", MINE)
    assert explained(*rest) == "class unread"
    assert explained(*rest, refused) == "no class"
    assert explained(*rest, spare, gaps=[Gap("GatewayClass", "", "forbidden")]) == "class unread"
    on_other = reported(policy(), ancestors=[ancestor(condition(FINE))])
    moved = (build.gateway("g"), build.route("r"), build.service("s"), on_other, other)
    assert explained(*moved) == "no class"
    assert explained(*moved, spare) == "other class"
    assert explained(*moved[:-1], complete=True) == "no class"


def test_a_controller_that_reported_on_nothing_of_a_kind_may_not_be_there() -> None:
    theirs = reported(policy("p"), ancestors=[ancestor(condition(FINE), controller="other")])
    accepts = kind(words={"accepted": ConditionWords(*FINE)})
    assert explained(*world(), theirs, profile=accepts) == "silent controller"
    fine = reported(policy("q", build.ON_GATEWAY), ancestors=[ancestor(condition(FINE))])
    assert explained(*world(), theirs, fine, policy("r"), profile=accepts) == "none"


def test_what_is_not_known_of_a_kind_may_explain_a_disagreement() -> None:
    wrong = reported(policy(), ancestors=[WRONG])
    assert explained(*world(), wrong, profile=kind(approximate=True)) == "approximate profile"
    assert explained(*world(), wrong, profile=kind(known_by="label")) == "inferred profile"


def test_where_nobody_has_said_how_a_kind_reports_only_the_opposite_disagrees() -> None:
    """GEP-713's words and places are assumed then, and others prove nothing; the API's own kinds do follow them."""
    unsaid = replace(kind(), status=STANDARD_STATUS)
    valid = reported(policy(), ancestors=[ancestor(condition(("Accepted", "True", "Valid")))])
    assert only(asked(valid, profile=unsaid, word="policies")).verdict == "Undecided"
    report = asked(reported(policy(), conditions=[condition(FINE)]), profile=unsaid, word="policies")
    assert [found.verdict for _, found in report.comparisons] == ["UnknownType", "Undecided"]
    assert [thing.what for thing in report.items[0].conditions[1].unseen] == ["how ColorPolicies report"]
    refused = reported(policy(), ancestors=[ancestor(condition(("Accepted", "False", "Invalid")))])
    assert explained(*world(), refused, profile=unsaid) == "assumed status"
    assert explained(*world(), refused, profile=replace(unsaid, known_by="label")) == "inferred profile"
    own = build.resource("XBackendTrafficPolicy", "x", {"targetRefs": [build.ON_SERVICE]}, group=XAPI)
    said_of_own = reported(own, ancestors=[ancestor(condition(("Accepted", "True", "Valid")))])
    assert explained(*world(), said_of_own) == "none"


def test_what_could_not_be_read_may_explain_a_disagreement() -> None:
    wrong = reported(policy(), ancestors=[WRONG])
    gap = Gap("", "", "broken", Origin("bad.yaml", 7))
    assert explained(*world(), wrong, gaps=[gap]) == "input incomplete"
    assert [thing.reason for thing in compared(*world(), wrong, gaps=[gap]).unseen] == ["broken"]


def test_what_is_undecided_leaves_it_uncertain_whether_anything_disagrees() -> None:
    fine, wrong = (
        reported(policy(), ancestors=[ancestor(condition(said), condition(WORKS))]) for said in (FINE, TAKEN)
    )
    unread = reported(policy("q", build.target("far", "GRPCRoute")), ancestors=[ancestor(condition(FINE))])
    for policies, disagrees, uncertain in (
        ([fine], False, False),
        ([wrong], True, False),
        ([unread], False, True),
        ([fine, unread], False, True),
        ([wrong, unread], True, False),
    ):
        report = asked(*policies)
        assert (report.disagrees, report.uncertain) == (disagrees, uncertain)
    gap = Gap("ColorPolicy", "", "broken", Origin("bad.yaml", 7))
    for each in (fine, wrong):
        assert asked(each, gaps=[gap]).uncertain


def test_without_a_type_the_targets_of_policies_are_asked_about_as_well() -> None:
    """Gateways, ListenerSets and routes that exist; what else is targeted has no such status."""
    on = [build.ON_GATEWAY, build.ON_SERVICE, build.target("gone", "GRPCRoute")]
    report = compared(*world(), policy("p", *on), policy("q"), build.gateway("spare"))
    assert [str(one.resource.ref) for one in report.items] == [
        "ColorPolicy default/p",
        "ColorPolicy default/q",
        "Gateway default/g",
        "HTTPRoute default/r",
    ]
    assert [names.plural for names in report.names] == ["colorpolicies", "gateways", "httproutes"]
    assert [one.resource.ref.name for one in compared(*world(), policy("p", *on), word="policies").items] == ["p"]


def test_objects_are_selected_as_in_lists() -> None:
    report = compared(*world(), policy(), word="gateway", names=("g",))
    assert [str(one.resource.ref) for one in report.items] == [G]
    assert [one.resource.ref.kind for one in compared(*world(), word="routes").items] == ["HTTPRoute"]
    with pytest.raises(UsageError, match='the status of "services" is not computed'):
        compared(*world(), word="services")
    with pytest.raises(UsageError, match='the status of "policykinds" is not computed'):
        compared(*world(), word="policykinds")
    with pytest.raises(NotFoundError, match='gateway "x" not found'):
        compared(*world(), word="gateway", names=("x",))


def test_no_ca_certificate_that_can_be_used_refuses_a_backend_tls_policy() -> None:
    """Wherever it is reported; ResolvedRefs says what is wrong with the references (GEP-1897)."""
    said = reported(
        tls("ca", hostname="s"),
        ancestors=[ancestor(condition(ACCEPTED), condition(("ResolvedRefs", "False", "InvalidKind")))],
    )
    report = compared(*world(), said, word="policies", complete=True)
    assert [
        (found.type, found.computed and (found.computed.status, found.computed.reason))
        for _, found in report.comparisons
    ] == [("Accepted", ("False", "NoValidCACertificate")), ("ResolvedRefs", ("False", "InvalidCACertificateRef"))]
    assert [found.verdict for _, found in compared(*world(), said, word="policies").comparisons] == [
        "Agrees",
        "Undecided",
    ]


@pytest.mark.parametrize(("named", "reason"), [("ca", "Conflicted"), ("gone", "NoValidCACertificate")])
def test_certificates_that_can_be_used_let_nobody_in_beside_another_one(named: str, reason: str) -> None:
    """The older policy keeps the other one out of the Service; one whose certificates are missing is refused before."""
    policies = [
        reported(tls(name="old", age=0, wellKnownCACertificates="System"), ancestors=[ancestor()]),
        reported(tls(named, name="new", age=1), ancestors=[ancestor()]),
    ]
    report = compared(*world(), AUTHORITY, *policies, word="policies", complete=True)
    accepted = {
        one.resource.ref.name: found.computed and found.computed.reason
        for one, found in report.comparisons
        if found.type == "Accepted"
    }
    assert accepted == {"old": "Accepted", "new": reason}


def test_one_of_several_certificates_that_can_be_used_will_do() -> None:
    said = reported(tls("ca", "other", hostname="s"), ancestors=[ancestor()])
    report = compared(*world(), AUTHORITY, said, word="policies", complete=True)
    assert [(found.type, found.computed and found.computed.reason) for _, found in report.comparisons] == [
        ("Accepted", "Accepted"),
        ("ResolvedRefs", "InvalidCACertificateRef"),
    ]


def test_a_controller_with_words_of_its_own_refuses_certificates_in_them() -> None:
    own = "gateway.envoyproxy.io/gatewayclass-controller"
    said = reported(
        tls("ca", hostname="s"), ancestors=[ancestor(condition(("Accepted", "False", "Invalid")), controller=own)]
    )
    rest = (build.gateway_class("public", own), build.gateway("g"), build.route("r"), build.service("s"))
    report = compared(*rest, said, word="policies", complete=True)
    assert [(found.type, found.verdict) for _, found in report.comparisons] == [("Accepted", "Agrees")]


def test_an_ancestor_in_any_shape_is_no_reason_to_give_up() -> None:
    odd: tuple[dict[str, object], ...] = (
        {"ancestorRef": "g", "controllerName": MINE, "conditions": [{}]},
        {"ancestorRef": {"name": 7}, "controllerName": [MINE], "conditions": {"a": 1}},
    )
    report = asked(reported(policy(), ancestors=list(odd)))  # type: ignore[arg-type]
    assert verdicts(report)[0] == ("p", "Gateway default/", "", "UnknownType")
    assert report.items[0].conditions[0].at == NodeRef(build.ref("Gateway", ""))
    assert report.items[0].other_controllers == (OtherController(NodeRef(build.ref("Gateway", "")), ""),)


@pytest.mark.parametrize(
    ("verdict", "compared"),
    [
        ("Agrees", True),
        ("Differs", True),
        ("NotReported", True),
        ("NotExpected", True),
        ("Undecided", False),
        ("UnknownType", False),
    ],
)
def test_both_sides_can_be_compared_where_each_is_known(verdict: Verdict, *, compared: bool) -> None:
    found = Comparison(at=None, type="Seen", computed=None, reported=None, verdict=verdict)
    assert found.is_compared is compared
    assert found.disagrees is (compared and verdict != "Agrees")
