"""Headlines of changes: one sentence that everybody reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.model import Diagnostic, Gap, Origin
from kubectl_policy.model.kinds import names
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import ProblemChanges
from kubectl_policy.questions.differences.effects import ChangedObject
from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from tests import build
from tests.render.changes.differences import (
    GAP,
    OTHER,
    POLICY,
    ROUTE,
    bakery,
    change,
    difference,
    everything,
    field,
    hostile,
    routes,
    valued,
    without,
)
from tests.render.worlds import DIRECT, INHERITED, world

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.questions.differences.effects import EffectChange

LOST, CHANGED, GAINED = field("red", None), field("red", "blue"), field(None, "blue")
MOVED = replace(field("red", None), after=valued("red", OTHER))


def test_every_sentence_about_the_bakery(snapshot: SnapshotAssertion) -> None:
    assert [blast_headline(without(name)) for name in everything()] == snapshot
    assert [diff_headline(without(name).difference) for name in everything()] == snapshot


def test_nothing_changes() -> None:
    """How many objects differ is an aside; that something was not seen is not."""
    assert diff_headline(difference()) == "Nothing changes in what policies do."
    part = replace(difference(), fragment="after")
    assert diff_headline(part) == (
        "The later state lacks nearly all objects of the earlier one; nothing changes in what policies do."
    )
    some = difference(created=(POLICY,), updated=(OTHER, ROUTE.object))
    assert diff_headline(some) == ("Nothing changes in what policies do (3 objects differ: 1 created and 2 updated).")
    assert diff_headline(replace(some, updated=())).endswith(" (1 object created).")
    assert diff_headline(difference(unseen=(GAP,))) == (
        "Whether anything changes in what policies do is unknown: 1 object is not in the input."
    )


@pytest.mark.parametrize(
    ("effects", "sentence"),
    [
        ([change(LOST)], "HTTPRoute default/r loses settings."),
        ([change(replace(LOST, security=True))], "HTTPRoute default/r loses settings, including security settings."),
        ([change(replace(GAINED, security=True))], "HTTPRoute default/r gains settings, including security settings."),
        ([change(CHANGED, nodes=routes(2))], "2 objects in namespace default get other values."),
        ([change(MOVED)], "HTTPRoute default/r gets the same values from elsewhere."),
        # An object is counted once, with the worst that happens to it, wherever that is.
        ([change(CHANGED), change(LOST)], "HTTPRoute default/r loses settings."),
        (
            [change(MOVED), change(GAINED, nodes=[build.node("HTTPRoute", "r", "rule[0]")])],
            "HTTPRoute default/r gains settings.",
        ),
        (
            [
                change(replace(LOST, security=True), nodes=routes(2)),
                change(LOST, nodes=routes(4)),
                change(CHANGED, nodes=routes(3, "far")),
                change(GAINED, nodes=routes(1, "other")),
                change(MOVED, nodes=routes(2, "moved")),
            ],
            (
                "8 objects change in 3 namespaces, including security settings on 2 of them: 4 lose settings, "
                "3 get other values and 1 gains settings; 2 objects get the same values from elsewhere."
            ),
        ),
    ],
)
def test_settings(effects: list[EffectChange], sentence: str) -> None:
    assert diff_headline(difference(effects=tuple(effects))) == sentence


def _partly(state_diff: EffectChange) -> EffectChange:
    """A change that is on one of two paths of each of its objects."""
    both = ((ROUTE,), (ROUTE, ROUTE))
    objects = tuple(ChangedObject(changed.node, changed.paths, both, (0,)) for changed in state_diff.objects)
    return replace(state_diff, objects=objects)


def test_traffic_is_told_apart_from_settings() -> None:
    gone = change(LOST, nodes=routes(2), where="gone")
    some = _partly(change(LOST, nodes=routes(3, "far"), where="gone"))
    new = change(GAINED, nodes=routes(1, "new"), where="new")
    assert diff_headline(difference(effects=(gone, some, new))) == (
        "Traffic ends for 2 objects and on at least one path of 3 more; traffic starts for HTTPRoute new/r0."
    )
    assert diff_headline(difference(effects=(some,))) == "Traffic ends on at least one path of 3 objects."
    again = change(GAINED, nodes=routes(2), where="new")
    assert diff_headline(difference(effects=(gone, again))) == "Traffic takes other paths to 2 objects."
    settled = diff_headline(difference(effects=(change(CHANGED), gone)))
    assert settled == "Traffic ends for 2 objects; HTTPRoute default/r gets other values."


def test_two_numbers_are_two_facts() -> None:
    """Of many objects it is not known whether they have other paths, so nothing is said of all of their paths."""
    many = change(LOST, nodes=routes(30), where="gone")
    assert diff_headline(difference(effects=(many,))) == "Traffic ends on at least one path of 30 objects."
    deleted = difference(effects=(many,), deleted=tuple(node.object for node in routes(30)))
    assert diff_headline(deleted) == "Traffic ends for 30 objects (30 objects deleted)."


def test_a_backend_without_routes_has_no_other_way() -> None:
    """A path of its own is none for the traffic that came by the route, nor was it one before."""
    service = build.node("Service", "s", group="")
    gone = replace(change(LOST, nodes=[service], where="gone"), paths=((ROUTE, service),))
    unrouted = change(GAINED, nodes=[service], where="new")
    assert diff_headline(difference(effects=(gone, unrouted))) == "Traffic ends for Service default/s."
    routed = replace(unrouted, paths=((ROUTE, service),))
    only = change(LOST, nodes=[service], where="gone")
    assert diff_headline(difference(effects=(only, routed))) == "Traffic starts for Service default/s."


def test_relations() -> None:
    gateway = build.node("Gateway", "g", "http")
    passing = build.ref("ColorPolicy", "new", group="example.com")
    by_other = replace(field(None, "red"), after=valued("red", OTHER))
    state_diff = difference(
        created=(passing,),
        effects=(change(by_other),),
        attachments=(
            AttachmentChange(policy=POLICY, target=ROUTE, before="attached", after="target missing", message=""),
            AttachmentChange(policy=OTHER, target=ROUTE, before="attached", after=None, message=""),
            AttachmentChange(policy=OTHER, target=gateway, before=None, after="attached", message=""),
            AttachmentChange(policy=passing, target=gateway, before=None, after="target missing", message=""),
        ),
        parents=(ParentChange(route=ROUTE.object, parent=gateway, before="attached", after="unknown", message=""),),
        enforcement=(
            EnforcementChange(policy=POLICY, before="Enforced", after="TargetNotFound", by=()),
            EnforcementChange(policy=OTHER, before="Conflicted", after="PartiallyEnforced", by=()),
            EnforcementChange(policy=passing, before=None, after="TargetNotFound", by=()),
        ),
        problems=ProblemChanges(
            introduced=(Diagnostic("a", "error", "m"),), fixed=(Diagnostic("b", "info", "m"),) * 2, unchanged=()
        ),
    )
    assert diff_headline(state_diff) == (
        "HTTPRoute default/r gains settings; ColorPolicy default/p is left without a target; "
        "ColorPolicy default/q loses a target; "
        "ColorPolicy default/q gains a target; what HTTPRoute default/r is attached to is no longer known; "
        "ColorPolicy default/q takes effect; ColorPolicy default/new is new and has no effect; "
        "1 problem is introduced; 2 problems are fixed (1 object created)."
    )


def test_a_policy_that_sets_nothing_anywhere_has_not_come_into_force() -> None:
    """It may count on what nothing leads to any more, which is nobody's gain."""
    idle = difference(enforcement=(EnforcementChange(policy=OTHER, before="Overridden", after="Enforced", by=()),))
    assert diff_headline(idle) == "Nothing changes in what policies do."


def test_many_beaters_are_counted() -> None:
    """A sentence that names five thousand is none."""
    refs = [build.ref("ColorPolicy", f"p{index}", group="example.com") for index in range(5_000)]
    assert names(refs[:1]) == "ColorPolicy default/p0"
    assert names(refs[:4]).endswith("ColorPolicy default/p2 and ColorPolicy default/p3")
    assert names(refs) == "ColorPolicy default/p0, ColorPolicy default/p1, ColorPolicy default/p2 and 4,997 others"


def test_routes_and_policies_in_numbers() -> None:
    gateway = build.node("Gateway", "g")
    parents = [
        ParentChange(route=node.object, parent=gateway, before="attached", after=None, message="") for node in routes(2)
    ]
    parents += [
        ParentChange(route=node.object, parent=gateway, before="refused", after="attached", message="")
        for node in routes(3, "far")
    ]
    policies = [build.ref("ColorPolicy", name, group="example.com") for name in "abc"]
    force = [EnforcementChange(policy=policy, before="Enforced", after="NoEffect", by=()) for policy in policies]
    assert diff_headline(difference(parents=tuple(parents), enforcement=tuple(force))) == (
        "No setting changes; 2 routes are detached from a parent; 3 routes are newly attached to a parent; "
        "3 policies are left without effect."
    )


def test_what_is_left_elsewhere_is_not_said_to_be_lost() -> None:
    """A policy that is overridden on one path leaves something there; one that was alone leaves nothing."""
    assert blast_headline(without("TimeoutPolicy baker/slow")).endswith(
        "both, which are left without any TimeoutPolicy where it was in force."
    )
    assert blast_headline(without("BackendTLSPolicy pastry/cream")).endswith(
        "that Service (including security settings), which is left without any BackendTLSPolicy."
    )


def test_security_is_part_of_the_sentence_about_a_policy() -> None:
    answer = without("SecurityPolicy infra/jwt")
    (effect,) = answer.difference.effects
    secure = replace(effect, fields=tuple(replace(changed, security=True) for changed in effect.fields))
    state_diff = replace(answer, difference=replace(answer.difference, effects=(secure,)))
    assert "changes all 3 (including security settings), which are left without any SecurityPolicy" in blast_headline(
        state_diff
    )
    other_answer = replace(state_diff, enforcement=None, subject=build.ref("Gateway", "x"))
    assert blast_headline(other_answer) == (
        "Deleting Gateway default/x takes settings from 3 objects, including security settings."
    )


def test_a_policy_without_effect() -> None:
    analysis = world(
        build.policy("idle", build.target("far", "Namespace", group=""), defaults={"color": 1}),
        build.policy("many", kind="LimitPolicy", limit=1),
        build.policy("dup", build.ON_SERVICE, kind="LimitPolicy", age=1, limit=1),
        build.policy("dup2", build.ON_SERVICE, kind="LimitPolicy", age=2, limit=2),
        build.namespace("far"),
        complete=True,
    )

    def said(name: str, kind: str = "ColorPolicy") -> str:
        return blast_headline(blast_radius(analysis, build.ref(kind, name, group="example.com")))

    assert said("idle") == (
        "ColorPolicy default/idle → Namespace far has no effect: no route is in Namespace far (test.yaml:1). "
        "Deleting it changes nothing."
    )
    assert "has no effect: " in said("many", "LimitPolicy")
    assert said("dup2", "LimitPolicy").endswith("in favour of LimitPolicy default/dup. Deleting it changes nothing.")
    assert said("dup", "LimitPolicy").endswith(
        "affects Service default/s, port 8080. Deleting it changes that Service; LimitPolicy default/dup2 takes effect."
    )


def test_what_a_policy_changes_elsewhere() -> None:
    answer = without("RetryPolicy baker/own")
    profile = bakery().registry.profile(answer.subject.group_kind)

    def said(*effects: EffectChange, affected: bool = True) -> str:
        some = answer.affected if affected else ()
        state_diff = difference(
            deleted=(answer.subject,), effects=tuple(replace(changed, profile=profile) for changed in effects)
        )
        return blast_headline(replace(answer, affected=some, difference=state_diff)).partition(". ")[2]

    routes_ = [node for node in answer.affected if node.kind == "HTTPRoute"]
    assert said() == "Deleting it changes none of them."
    assert said(change(CHANGED, nodes=routes_)) == "Deleting it changes 1 of them."
    assert said(change(CHANGED, nodes=[*routes_, *routes(2)])) == "Deleting it changes 1 of them and 2 other objects."
    assert said(change(MOVED, nodes=routes_)) == (
        "Deleting it changes none of them; 1 gets the same values from elsewhere."
    )
    assert said(change(CHANGED), affected=False) == "Deleting it changes HTTPRoute default/r."
    assert said(change(LOST, where="gone"), affected=False) == (
        "Deleting it changes no setting; traffic ends for HTTPRoute default/r."
    )


def test_nothing_below_a_target_that_was_read() -> None:
    """It may be that not all was read, and then nothing is said of what was not."""
    policy = build.policy("idle", build.target("default", "Namespace", group=""), kind="ColorPolicy", color=1)
    base = (build.namespace("default"), build.crd("ColorPolicy", labels=INHERITED), policy)
    answer = blast_radius(
        analyze(build.snapshot(*base, gaps=[Gap("", "", "broken", Origin("bad.yaml", 1))])), policy.ref
    )
    assert blast_headline(answer) == (
        "ColorPolicy default/idle → Namespace default affects nothing that was read, but not all below its target may "
        "have been. Whether deleting it changes anything is unknown: 1 object is not in the input and 1 file may hold "
        "more."
    )


def test_what_is_not_known_is_said() -> None:
    base = (build.crd("LimitPolicy", labels=DIRECT), build.policy("p", build.target("x"), kind="LimitPolicy", limit=1))
    gaps = [Gap("Gateway", "", "forbidden"), Gap("", "", "broken", Origin("bad.yaml", 1))]
    sentence = blast_headline(blast_radius(analyze(build.snapshot(*base, gaps=gaps)), base[1].ref))
    assert sentence.startswith("Whether LimitPolicy default/p has an effect is unknown: ")
    unread = "as far as could be read: 2 objects are not in the input"
    assert f". What deleting it would change is unknown too, {unread}" in sentence


@pytest.mark.parametrize("text", ["{0}", "{who}", "{is}", "%s", "\\", "\x1b[31m"])
def test_names_are_no_templates(text: str) -> None:
    """A name is said as it is, whatever it looks like."""
    assert diff_headline(hostile(text)).startswith(
        f"{text} {text}/{text} gets other values, including security settings; "
    )
