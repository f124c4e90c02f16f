"""Compare this project's answers with recorded cases of Kuadrant and policy-machinery.

`python -m tests.cases.kuadrant FOLDER` reads FOLDER/<case>/expected.yaml and manifests.yaml, with the definitions that
the case names. It translates names between the two projects and knows no rule of either.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path as File
from typing import Final

from kubectl_policy import (
    Analysis,
    EffectivePolicy,
    Enforcement,
    GroupKind,
    Leaf,
    MergeStrategy,
    NodeRef,
    ObjectRef,
    Path,
    PolicyKindProfile,
    analyze,
    leaves,
    plain,
)
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Json
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.questions.predicted_conditions import PolicyStatuses, target_conditions
from kubectl_policy.resolution import Traced
from tests.cases.names import slashed
from tests.cases.report import NOT_ANSWERED, NodeInForce, main
from tests.cases.worlds import fields, items, objects, read, world

# `<stanza>.rules (list, key = id)`, `<stanza>.rules (map)`.
_RULES: Final = re.compile(r"<stanza>\.(\w+) \((?:map|list, key = (\w+))\)")


def profiles_of(model: Mapping[str, Json]) -> tuple[PolicyKindProfile, ...]:
    """Return the profile that a case's `model` describes; none without a model."""
    kind, rules = text_at(model, "kind"), _RULES.search(text_at(model, "rules"))
    if not kind or rules is None:
        return ()
    name, key = rules.groups()
    field_by_field = "JSON merge patch" in text_at(model, "merge")
    return (
        PolicyKindProfile(
            GroupKind(text_at(model, "group"), kind),
            "direct" if text_at(model, "class") == "direct" else "inherited",
            "profile",
            stanzas="plural",
            strategy=MergeStrategy.PATCH_DEFAULTS if field_by_field else MergeStrategy.ATOMIC_DEFAULTS,
            fold="bottom-up",
            whole_fields=frozenset({f"{name}[{key}]" if key else f"{name}.*"}),
            unnamed_rules="rule-{n}",
        ),
    )


# What the other project calls a section, by the kind of the object; rules are called after their route's kind.
_SECTION_KINDS: Final = {
    "Gateway": "Listener",
    "ListenerSet": "Listener",
    "XListenerSet": "Listener",
    "Service": "ServicePort",
    "ServiceImport": "ServicePort",
}
_RULE_NUMBER: Final = re.compile(r"rule\[(\d+)\]")


def name_of(node: NodeRef) -> str:
    """Return Kuadrant's name for a node: `Kind/namespace/name`, with `#section`; unnamed rules count from 1."""
    if not node.section:
        return slashed(node.object)
    section = _RULE_NUMBER.sub(lambda match: f"rule-{int(match[1]) + 1}", node.section)
    return f"{section_kind(node)}/{node.object.qualified_name}#{section}"


def section_kind(node: NodeRef) -> str:
    """Return Kuadrant's kind of a section."""
    return _SECTION_KINDS.get(node.kind, f"{node.kind}Rule")


def follows(path: Path, wanted: Iterable[str]) -> bool:
    """Whether a path has nodes of these names, in their order, whatever stands between them."""
    names = iter(map(name_of, path))
    return all(name in names for name in wanted)


# The name of the one rule that is the whole spec.
_WHOLE: Final = "spec"


def rules_of(
    effective: EffectivePolicy | None, asked: Mapping[str, Mapping[str, Json]], *, exact: bool
) -> dict[str, dict[str, Json]]:
    """Return the effective rules that are asked for; with `exact`, every other field as well."""
    spec: Traced = effective.resolution.spec if effective else {}
    answers: dict[str, dict[str, Json]] = {}
    for key, rule in asked.items():
        part = {"spec": spec} if key == _WHOLE else _part(spec, key)
        present = [(field, leaf) for field, leaf in leaves(part) if not leaf.removed]
        if present:
            sources = sorted({leaf.source.object.qualified_name for _, leaf in present})
            answers[key] = {"source": ", ".join(sources)}
            if "spec" in rule:
                answers[key]["spec"] = _unnamed(next(iter(plain(part).values())), key.rpartition(".")[2], rule["spec"])
    for field, leaf in leaves(spec) if exact else ():
        dotted = ".".join(field)
        if not leaf.removed and not any(key == _WHOLE or f"{dotted}.".startswith(f"{key}.") for key in asked):
            answers[dotted] = {"source": leaf.source.object.qualified_name, "spec": leaf.value}
    return answers


def _unnamed(value: Json, name: str, asked: Json) -> Json:
    """Return the one value of a list element `{id: name, field: value}` if a single value is asked for."""
    if isinstance(value, dict) and not isinstance(asked, dict):
        rest = [field for field in value.values() if field != name]
        return rest[0] if len(rest) == 1 else value
    return value


def _part(spec: Traced, key: str) -> Traced:
    """Return the one field of a spec that a dotted key names, under its last name; empty if there is none."""
    for name, child in spec.items():
        if name == key:
            return {name: child}
        if key.startswith(f"{name}.") and not isinstance(child, Leaf):
            part = _part(child, key.removeprefix(f"{name}."))
            if part:
                return part
    return {}


MARKER: Final = "expected.yaml"
# The other project's words for a state of enforcement, where ours is another one.
_STATES: Final = {"NoRoutes": "NoEffect", "Unknown": "NoEffect"}
# Words that say what a sentence is about; the shorter ones, and Gateways, are in every other one.
_WORDS: Final = re.compile(r"\b(?!gateway)[a-z]{6,}\b")
_NAMED_IN_MESSAGE: Final = re.compile(r"[a-z0-9.-]+/[a-z0-9.-]*[a-z0-9]|(?<=target )[a-z0-9.-]+(?= was not found)")


def judge(folder: File) -> Iterator[NodeInForce]:
    """Judge every fact of one case, then of the changes that the case makes."""
    expected = read(folder / MARKER)
    definitions = folder / text_at(expected, "crds", "crds")
    paths = [folder / "manifests.yaml", *([definitions] if definitions.exists() else [])]
    expect = mapping_at(expected, "expect")
    case, profiles = text_at(expected, "case", folder.name), profiles_of(mapping_at(expected, "model"))
    analysis = analyze(world(paths), profiles=profiles)
    yield from _KuadrantWorld(case, analysis).outcomes(expect)
    for change in mappings_at(expect, "whatif"):
        named = strings_at(change, "change.delete")
        deleted = [resource.ref for resource in analysis.snapshot.resources if slashed(resource.ref) in named]
        changed = what_if(analysis, applied=objects(items_at(change, "change.apply")), deleted=deleted)
        yield from _KuadrantWorld(case, changed.after, "whatif ").outcomes(mapping_at(change, "expect"))


class _KuadrantWorld:
    """One world of a case, and the facts expected of it."""

    def __init__(self, case: str, analysis: Analysis, prefix: str = "") -> None:
        self.case, self.analysis, self.prefix = case, analysis, prefix

    @cached_property
    def nodes(self) -> dict[str, NodeRef]:
        """Every node by Kuadrant's name for it."""
        return {name_of(node): node for node in self.analysis.topology.nodes}

    @cached_property
    def policies(self) -> dict[str, ObjectRef]:
        """Every policy by Kuadrant's name for it."""
        return {slashed(policy.ref): policy.ref for policy in self.analysis.policies}

    def outcomes(self, expect: Mapping[str, Json]) -> Iterator[NodeInForce]:
        """Judge every fact that is expected of this world; a changed world is judged by itself."""
        answers: dict[str, Callable[[], Iterator[NodeInForce]]] = {
            "topology": lambda: self._topology(mapping_at(expect, "topology")),
            "policies": lambda: self._each(self._policy, mappings_at(expect, "policies")),
            "effective": lambda: self._each(self._effective, mappings_at(expect, "effective")),
            "affected": lambda: self._each(self._affected, mappings_at(expect, "affected")),
            "lint": lambda: self._each(self._lint, mappings_at(expect, "lint")),
        }
        for key in expect:
            if key in answers:
                yield from answers[key]()
            elif key != "whatif":
                for entry in items_at(expect, key) or [expect[key]]:
                    yield self._outcome(key, text_at(entry, "policy", key), entry, NOT_ANSWERED)

    def _each(
        self, answer: Callable[[Mapping[str, Json]], Iterator[NodeInForce]], entries: Iterable[Mapping[str, Json]]
    ) -> Iterator[NodeInForce]:
        return (outcome for entry in entries for outcome in answer(entry))

    def _outcome(self, type_: str, fact: str, expected: object, got: object) -> NodeInForce:
        return NodeInForce(self.case, self.prefix + type_, fact, expected, got)

    def _topology(self, expected: Mapping[str, Json]) -> Iterator[NodeInForce]:
        expanded = strings_at(expected, "expand")
        for parent, children in mapping_at(expected, "children").items():
            node = self.nodes.get(parent)
            wanted = sorted(map(str, items(children)))
            got = sorted({name_of(child) for child in self._below(node, expanded)}) if node else "no such node"
            yield self._outcome("topology", f"children of {parent}", wanted, got)

    @cached_property
    def _referring(self) -> dict[NodeRef, set[NodeRef]]:
        """The routes that refer to each listener, whatever comes of it.

        The other project's topology is about references: whether the listener takes the route is asked later there.
        """
        routes: dict[NodeRef, set[NodeRef]] = {}
        for route in {node.object for node in self.analysis.topology.nodes}:
            for binding in self.analysis.topology.bindings(route):
                if binding.listener:
                    routes.setdefault(binding.listener, set()).add(NodeRef(route))
        return routes

    def _below(self, node: NodeRef, expanded: Sequence[str]) -> Iterator[NodeRef]:
        """Yield the children of a node, where sections of kinds that are not expanded are one with their objects."""
        for child in {*self.analysis.topology.children(node), *self._referring.get(node, ())}:
            if not child.section or section_kind(child) in expanded:
                yield child
            elif child.object == node.object:
                yield from self._below(child, expanded)
            else:
                yield NodeRef(child.object)

    def _policy(self, expected: Mapping[str, Json]) -> Iterator[NodeInForce]:
        name = text_at(expected, "policy")
        policy = self.policies.get(name)
        enforcement = self.analysis.enforcement(policy) if policy else None
        for key, wanted in expected.items():
            if key in {"accepted", "enforced"}:
                got = _condition(self.analysis, key, enforcement) if enforcement else "no such policy"
                yield from self._conditions(f"{key} of {name}", wanted, got, enforcement)
            elif key == "enforcement":
                state = enforcement.state if enforcement else "no such policy"
                yield self._outcome("enforcement", f"enforcement of {name}", _STATES.get(str(wanted), wanted), state)
            elif key == "overriddenBy":
                winners = sorted(ref.qualified_name for ref in enforcement.by) if enforcement else "no such policy"
                yield self._outcome("overridden by", f"what overrides {name}", sorted(map(str, items(wanted))), winners)
            elif key != "policy":
                yield self._outcome(key, f"{key} of {name}", wanted, NOT_ANSWERED)

    def _conditions(
        self, fact: str, wanted: Json, got: Mapping[str, str] | str, enforcement: Enforcement | None
    ) -> Iterator[NodeInForce]:
        """Judge a condition: its status and reason are one fact, a message that says more is another."""
        type_ = fact.partition(" ")[0]
        asked = fields(wanted)
        if not asked or isinstance(got, str):
            yield self._outcome(type_, fact, wanted, got)
            return
        short = {key: text_at(asked, key) for key in ("status", "reason") if key in asked}
        answer = {key: got[key] for key in short}
        yield self._outcome(type_, fact, short, answer)
        message = text_at(asked, "message")
        if not message:
            return
        named = sorted(_NAMED_IN_MESSAGE.findall(message))
        if named and enforcement:
            ours = self._named_by(enforcement)
            yield self._outcome("message", fact, named, sorted(name for name in named if name in ours))
        elif ":" in message and enforcement:
            # What follows the first colon is why nothing comes of it: a problem of the policy, about the same thing.
            is_explained = self._explained(message, enforcement)
            yield self._outcome("message", fact, message, message if is_explained else NOT_ANSWERED)
        else:
            restated = re.fullmatch(rf"\w+ has been (successfully )?{answer.get('reason', '')}", message, re.IGNORECASE)
            yield self._outcome("message", fact, message, message if restated else NOT_ANSWERED)

    def _explained(self, message: str, enforcement: Enforcement) -> bool:
        """Whether some problem of the policy speaks of the last reason that a message gives."""
        reason = set(_WORDS.findall(message.rpartition(":")[2].lower()))
        problems = (problem.message.lower() for problem in self.analysis.problems_of(enforcement.policy))
        return any(reason & set(_WORDS.findall(problem)) for problem in problems)

    def _named_by(self, enforcement: Enforcement) -> set[str]:
        """Return the names that the answer about a policy has: policies that override it, and its targets."""
        targets = [attachment.target for attachment in self.analysis.attachments[enforcement.policy]]
        objects = [*enforcement.by, *(target.object for target in targets if target)]
        return {name for ref in objects for name in (ref.name, ref.qualified_name)}

    def _effective(self, expected: Mapping[str, Json]) -> Iterator[NodeInForce]:
        wanted, kind = strings_at(expected, "path"), text_at(expected, "kind")
        fact = f"{kind} on {' > '.join(wanted)}"
        paths = self._paths(wanted)
        policies = [_on_path(self.analysis, path, kind) for path in paths]
        rules = {key: fields(rule) for key, rule in mapping_at(expected, "rules").items()}
        asked = {key: {"source": text_at(rule, "source")} | _given(rule, "spec") for key, rule in rules.items()}
        answers = [rules_of(effective, asked, exact=bool(expected.get("exact"))) for effective in policies or [None]]
        differing = [answer for answer in answers if answer != asked]
        got: object = differing[0] if differing else asked
        # Where a route is not attached there is no path of ours, and nothing to be effective on it.
        known = all(name in self.nodes for name in wanted)
        yield self._outcome("effective", fact, asked, got if known else "no such node")
        if "sourcePolicies" in expected:
            specs = [effective.resolution.spec for effective in policies if effective]
            sources = {leaf.source.object.qualified_name for spec in specs for _, leaf in leaves(spec)}
            yield self._outcome("sources", fact, sorted(strings_at(expected, "sourcePolicies")), sorted(sources))

    def _paths(self, wanted: Sequence[str]) -> list[Path]:
        """Return the paths that have the wanted nodes in their order and end with the last of them."""
        end = self.nodes.get(wanted[-1]) if wanted else None
        return [path for path in self.analysis.topology.paths(end) if follows(path, wanted)] if end else []

    def _lint(self, expected: Mapping[str, Json]) -> Iterator[NodeInForce]:
        """Judge whether an API server takes a policy, with its message; or another problem, by the objects it names."""
        name, message = text_at(expected, "policy"), text_at(expected, "message")
        policy = self.policies.get(name)
        problems = self.analysis.problems_of(policy) if policy else ()
        refusals = [problem.message for problem in problems if problem.rule == "schema"]
        if "valid" not in expected:
            objects = [self.nodes.get(text) for text in strings_at(expected, "objects")]
            rest = [problem.message for problem in problems if problem.rule != "schema"]
            holds = any(all(str(node) in text for node in objects) for text in rest)
            answer = dict(expected) if holds else rest
            yield self._outcome("lint", name, dict(expected), answer if objects else NOT_ANSWERED)
            return
        yield self._outcome("lint", name, expected["valid"], not refusals if policy else "no such policy")
        if message:
            got = message if any(message in text for text in refusals) else refusals
            yield self._outcome("lint", f"message on {name}", message, got)

    def _affected(self, expected: Mapping[str, Json]) -> Iterator[NodeInForce]:
        name, condition = text_at(expected, "object"), text_at(expected, "condition")
        fact = f"{condition} of {name}"
        node = self.nodes.get(name)
        if node is None:
            yield self._outcome("affected", fact, dict(expected), "no such node")
            return
        conditions = [reported for reported in target_conditions(self.analysis, node) if reported.type == condition]
        got = sorted(related.object.qualified_name for reported in conditions for related in reported.related)
        wanted, unwanted = strings_at(expected, "policies"), strings_at(expected, "notPolicies")
        holds = not got if expected.get("absent") else set(wanted) <= set(got) and not set(unwanted) & set(got)
        asked = {key: value for key, value in expected.items() if key not in {"object", "condition"}}
        yield self._outcome("affected", fact, asked, asked if holds else got)


def _condition(analysis: Analysis, type_: str, enforcement: Enforcement) -> Mapping[str, str] | str:
    """Return the condition that would be reported on a policy, or "absent"."""
    reported = {
        condition.type.lower(): {"status": condition.status, "reason": condition.reason}
        for status in PolicyStatuses(analysis).of(enforcement.policy)
        for condition in status.conditions
    }
    return reported.get(type_, "absent")


def _on_path(analysis: Analysis, path: Path, kind: str) -> EffectivePolicy | None:
    return next(
        (effective for effective in analysis.effective_on(path) if effective.resolution.kind.kind == kind), None
    )


def _given(rule: Mapping[str, Json], key: str) -> dict[str, Json]:
    return {key: rule[key]} if key in rule else {}


if __name__ == "__main__":
    sys.exit(main(judge, MARKER, sys.argv[1:]))
