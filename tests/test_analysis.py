"""The pipeline in one place: policies, attachments, effective policies, and every problem of a snapshot."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import Diagnostic, Implementation, MergeStrategy, PolicyKindProfile, Snapshot, analyze, plain
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.build import (
    ORIGIN,
    backend,
    gateway,
    gateway_class,
    namespace,
    node,
    parent,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)

COLOR: Final = GroupKind("example.com", "ColorPolicy")
WORLD: Final = (namespace("default"), gateway("g"), route("r"), service("s"))
P: Final = ref("ColorPolicy", "p", group="example.com")


def test_an_empty_snapshot() -> None:
    """There is nothing in it."""
    analysis = analyze(Snapshot())
    assert (analysis.policies, dict(analysis.attachments), analysis.diagnostics) == ((), {}, ())
    assert analysis.attachments_to(ref("Gateway", "g")) == ()


def test_what_was_not_read_is_no_question() -> None:
    """An answer without anything would look like one: a name that is misspelt is an error, which helps."""
    analysis = analyze(snapshot(*WORLD))
    for ask in (analysis.effective, analysis.affected_by):
        with pytest.raises(NotFoundError, match="Gateway default/typo is not in the input") as error:
            ask(node("Gateway", "typo"))
        assert error.value.hint == "there are: default/g"
        with pytest.raises(NotFoundError, match="TCPRoute default/x is not in the input") as error:
            ask(node("TCPRoute", "x"))
        assert error.value.hint == "the input has no TCPRoute"
        with pytest.raises(NotFoundError, match="Gateway default/g has no section typo"):
            ask(node("Gateway", "g", "typo"))


def test_the_policies_are_sorted_by_kind_then_name() -> None:
    """Whatever the order of the documents is; what is no policy is not among them."""
    policies = [policy("b", target("g")), policy("a", target("g")), policy("z", target("g"), kind="AlphaPolicy")]
    analysis = analyze(snapshot(*policies, *WORLD))
    assert [found.ref.name for found in analysis.policies] == ["z", "a", "b"]
    assert list(analysis.attachments) == [found.ref for found in analysis.policies]


def test_attachments_to_an_object_and_its_sections() -> None:
    """Of any state, sorted by policy; selectors that select nothing are attached to nothing."""
    policies = [
        policy("b", target("g", section="ghost")),
        policy("a", target("g", section="http"), target("r", "HTTPRoute"), {"kind": "Gateway", "selector": {}}),
    ]
    analysis = analyze(snapshot(*policies, *WORLD, complete=True))
    found = [(attachment.policy.name, attachment.state) for attachment in analysis.attachments_to(ref("Gateway", "g"))]
    assert found == [("a", "attached"), ("b", "section missing")]


def test_effective_policies_of_one_kind() -> None:
    """All kinds, or the one that is asked for."""
    analysis = analyze(
        snapshot(policy("p", target("g"), a=1), policy("q", target("g"), kind="AlphaPolicy", b=1), *WORLD)
    )
    at = node("Gateway", "g")
    assert [effective.resolution.kind.kind for effective in analysis.effective(at)] == ["AlphaPolicy", "ColorPolicy"]
    assert [plain(effective.resolution.spec) for effective in analysis.effective(at, COLOR)] == [{"a": 1}]
    (path,) = analysis.topology.paths(at)
    assert analysis.effective_on(path) == analysis.effective(at)


def test_what_a_node_is_affected_by() -> None:
    """Policies with an effective field on any path to it."""
    profile = PolicyKindProfile(COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS)
    policies = [policy("b", target("g"), x=1), policy("a", target("g"), y=1), policy("lost", target("g"), age=0, x=0)]
    analysis = analyze(snapshot(*policies, *WORLD), profiles=[profile])
    assert [found.name for found in analysis.affected_by(node("Service", "s", group=""))] == ["a", "b"]


def test_the_enforcement_of_what_is_no_policy() -> None:
    """There is none."""
    with pytest.raises(NotFoundError, match="Gateway default/g is not a policy that was read"):
        analyze(snapshot(*WORLD)).enforcement(ref("Gateway", "g"))


def test_settings_reach_the_topology() -> None:
    """What the implementation lacks changes what routes attach to."""
    implementation = Implementation(frozenset({"TLSRouteModeTerminate"}))
    assert analyze(Snapshot(), implementation=implementation).topology.gateways.implementation == implementation
    assert analyze(Snapshot()).topology.gateways.implementation == Implementation()


def test_routes_in_a_circle_are_reported() -> None:
    """Each of them, and no other; nothing is said where routes lead to Services alone."""
    assert "cycle" not in {problem.rule for problem in analyze(snapshot(*WORLD)).diagnostics}
    rules = {"a": "b", "b": "a", "c": "a"}
    routes = [
        route(name, rules=[rule(backend(target, None, group=GATEWAY_API, kind="HTTPRoute"))])
        for name, target in rules.items()
    ]
    found = [
        problem
        for problem in analyze(snapshot(gateway_class(), gateway(), *routes)).diagnostics
        if problem.rule == "cycle"
    ]
    circle = "a request would loop: HTTPRoute default/a → HTTPRoute default/b → HTTPRoute default/a"
    assert [(one.severity, one.subject, one.message) for one in found] == [
        ("error", ref("HTTPRoute", name), f"HTTPRoute default/{name}: {circle}") for name in ("a", "b")
    ]


class TestDiagnostics:
    """Every problem and doubt travels with the answer."""

    def only(self, *found: Diagnostic) -> Diagnostic:
        """The one diagnostic about the policy."""
        (about,) = [one for one in found if one.subject == P]
        return about

    def test_a_policy_without_a_reference(self) -> None:
        """It has no effect; the profile says that the kind is one."""
        profile = PolicyKindProfile(COLOR, "inherited", "profile")
        analysis = analyze(snapshot(policy("p", a=1), *WORLD), profiles=[profile])
        assert self.only(*analysis.diagnostics) == Diagnostic(
            "no-target",
            "warning",
            "ColorPolicy default/p has no target reference, so it has no effect",
            P,
            origin=ORIGIN,
        )

    @pytest.mark.parametrize(
        ("to", "complete", "expected"),
        [
            (target("ghost"), True, ("target-missing", "error", "TargetNotFound")),
            (target("d", "Deployment", group="apps"), False, ("target-unknown", "info", "")),
            (target("g", section="ghost"), True, ("section-missing", "error", "TargetNotFound")),
            (target("g", namespace="infra"), True, ("target-not-permitted", "error", "")),
            (target("g", group="a/v1"), True, ("target-kind-unsupported", "error", "")),
            (target("x", "Ghost", group="v.io"), True, ("virtual-target", "info", "")),
        ],
        ids=str,
    )
    def test_an_attachment_that_fails(
        self, to: dict[str, str], *, complete: bool, expected: tuple[str, str, str]
    ) -> None:
        """Rule, severity and the API's reason, with the place of the reference."""
        analysis = analyze(snapshot(policy("p", to), *WORLD, complete=complete))
        found = self.only(*analysis.diagnostics)
        assert (found.rule, found.severity, found.reason) == expected
        assert (found.field, found.origin) == ("spec.targetRefs[0]", ORIGIN)
        assert found.message.startswith("ColorPolicy default/p: ")
        assert bool(found.related) == (expected[0] != "target-kind-unsupported")

    def test_an_attachment_that_holds(self) -> None:
        """Nothing to say."""
        analysis = analyze(snapshot(policy("p", target("g")), *WORLD))
        assert [problem for problem in analysis.diagnostics if problem.subject == P] == []

    def test_the_problems_of_reading_come_first(self) -> None:
        """Then those of each object, by kind and name: wrong shapes, broken references, failed attachments."""
        read = Diagnostic("syntax-error", "error", "a.yaml:3: not valid YAML")
        shapeless = resource("Gateway", "shapeless", {"listeners": "text"})
        dangling = route("lost", parents=[parent("nowhere")])
        world = snapshot(*WORLD, gateway_class(), dangling, shapeless, policy("p", target("ghost")), complete=True)
        analysis = analyze(Snapshot(world.resources, diagnostics=(read,), complete=True))
        assert [(problem.rule, problem.subject) for problem in analysis.diagnostics] == [
            ("syntax-error", None),
            ("target-missing", P),
            ("wrong-type", ref("Gateway", "shapeless")),
            ("missing-reference", ref("HTTPRoute", "lost")),
        ]

    def test_the_problems_of_one_object(self) -> None:
        """Those of reading that are about it, and its own; none of an object that was not read."""
        duplicate, other = (
            Diagnostic("duplicate-object", "warning", "twice", subject) for subject in (P, ref("Gateway", "g"))
        )
        resources = snapshot(*WORLD, gateway_class(), policy("p", target("ghost"))).resources
        nobodys = Diagnostic("syntax-error", "error", "a.yaml:3: not valid YAML")
        analysis = analyze(Snapshot(resources, diagnostics=(nobodys, duplicate, other), complete=True))
        assert [problem.rule for problem in analysis.problems_of(P)] == ["duplicate-object", "target-missing"]
        assert analysis.problems_of(ref("Gateway", "g")) == (other,)
        assert analysis.problems_of(ref("Gateway", "absent")) == ()
