"""Answers to gwctl's questions for effects: effective policies, enforcement, reach, problems, and changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from kubectl_policy import Analysis, EffectivePolicy, GroupKind, Leaf, Path, leaves, plain
from kubectl_policy.model import Diagnostic, Json, ObjectRef
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import ProblemChanges, StateDiff
from kubectl_policy.questions.differences.effects import EffectiveValue
from kubectl_policy.questions.shared.reported import reported_conditions
from tests.cases.claims import Problem, claims, problems_in
from tests.cases.gwctl_question import Answer, Question, inherited
from tests.cases.worlds import fields, items


def reached_by(question: Question) -> tuple[EffectivePolicy, ...]:
    """Return the effective policies, one per path, to which the policy of the question contributes."""
    policy = question.subject
    if policy is None or policy not in question.before.attachments:
        return ()
    return question.before.enforcement(policy).outcomes


def on_path(path: Path, name: str) -> bool:
    """Whether a path has the objects of `g1>r1>b1` in this order and ends with the last of them."""
    wanted = name.split(">")
    names = iter(node.object.name for node in path)
    return path[-1].object.name == wanted[-1] and all(part in names for part in wanted)


def short(path: Path) -> str:
    """Return a path as gwctl's cases write it: the names of its objects from the Gateway on."""
    return ">".join(dict.fromkeys(node.object.name for node in path if node.object.namespace))


def delete_changes(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare, by path, what deleting the policy does to each field: `color red -> none`."""
    wanted = fields(expected)
    return wanted, {name: change for name, change in _changes(question, list(wanted)).items() if change}


def delete_unchanged(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the paths on which deleting the policy changes nothing."""
    wanted = [str(name) for name in items(expected)]
    changes = _changes(question, wanted)
    return sorted(wanted), sorted(name for name in wanted if changes.get(name) == "")


def _changes(question: Question, names: list[str]) -> dict[str, str]:
    """Return what deleting the policy changes on each path that it reaches, by the name of the path."""
    changes = {_name(policy.path, names): "" for policy in reached_by(question)}
    if question.subject is None:
        return changes
    for change in blast_radius(question.before, question.subject).difference.effects:
        fields = ", ".join(f"{field.field} {_shown(field.before)} -> {_shown(field.after)}" for field in change.fields)
        changes |= {_name(path, names): fields for path in change.paths if change.sort != "moved"}
    return changes


def _name(path: Path, names: list[str]) -> str:
    return next((name for name in names if on_path(path, name)), short(path))


def _shown(value: EffectiveValue | None) -> object:
    return "none" if value is None or value.removed else value.value


def enforcement(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare the state of the policy named by the key, and the policies that override it: `Overridden by p3`."""
    state, _, rest = str(expected).partition(" ")
    named = (policy.ref for policy in question.before.policies if policy.ref.name == key)
    enforcements = [question.before.enforcement(policy) for policy in named]
    got = [(enforcement.state, sorted(ref.name for ref in enforcement.by)) for enforcement in enforcements]
    return [(state, sorted(re.findall(r"by (\S+)", rest)))], got


def paths(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the paths to which the policy contributes."""
    wanted = [str(name) for name in items(expected)]
    reached = [policy.path for policy in reached_by(question)]
    names = {next((name for name in wanted if on_path(path, name)), short(path)) for path in reached}
    return sorted(wanted), sorted(names)


def reported(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare, for policies by `namespace/name`, the status of the condition that a controller reported."""
    statuses: dict[str, str] = {}
    for policy in question.before.policies:
        for condition in reported_conditions(policy.raw):
            if condition.type.lower() == key and policy.ref.qualified_name in fields(expected):
                statuses[policy.ref.qualified_name] = condition.status
    return expected, statuses


def effective(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare effective policies by kind; by parent, then by kind; or, of one kind, the fields alone."""
    analysis, paths, kind = question.before, question.paths, question.policy_kind
    wanted = fields(expected)
    by_parent = {key: key.rpartition("/")[2] for key in wanted if " " in key}
    if by_parent:
        by_parent_and_kind: dict[str, Json] = {}
        for key, name in by_parent.items():
            through = [path for path in paths if name in {node.object.name for node in path}]
            by_parent_and_kind[key] = _one(_on_paths(analysis, through, set(fields(wanted[key]))))
        return expected, by_parent_and_kind
    outcome = _one(_on_paths(analysis, paths, set(wanted), kind))
    return expected, outcome.get(str(kind), {}) if kind and isinstance(outcome, dict) else outcome


def _one(outcomes: list[dict[str, Json]]) -> Json:
    """Return the outcome that all paths share, or all outcomes if they differ."""
    return outcomes[0] if len(outcomes) == 1 else list(outcomes) or "no such path"


def declared(*, overrides: bool) -> Answer:
    """Return the answer that compares effective fields declared as overrides, or those declared as defaults."""
    return lambda question, _, expected: (
        expected,
        _of_leaves(question, lambda leaf: leaf.value, lambda leaf: leaf.source.overrides == overrides),
    )


def provenance(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare, by field, the name of the policy that set it."""
    return expected, _of_leaves(question, lambda leaf: leaf.source.object.name)


def _of_leaves(
    question: Question, value_of: Callable[[Leaf], Json], asked: Callable[[Leaf], bool] = lambda _: True
) -> Json:
    """Return a value per field of each leaf that is asked for, if it is the same on all paths."""
    outcomes: list[dict[str, Json]] = []
    for policy in _effective_of(question.before, question.paths, question.policy_kind):
        outcome = {".".join(field): value_of(leaf) for field, leaf in leaves(policy.resolution.spec) if asked(leaf)}
        if outcome not in outcomes:
            outcomes.append(outcome)
    return _one(outcomes)


def strategy(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare a sentence that names the merge strategy, by its name or by the stanza's words for it."""
    policies = _effective_of(question.before, question.paths, question.policy_kind)
    used = [part.strategy.value for policy in policies for part in policy.resolution.contributions[:1]]
    return expected, expected if used and all(_says(str(expected), name) for name in used) else used


def _says(sentence: str, strategy: str) -> bool:
    """Whether a sentence has the words of a strategy; a stanza that merges is one that patches."""
    text = sentence.lower().replace("strategy: merge", "patch")
    return all(part in text for part in strategy.lower().split())


def effective_on_path(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare the fields at the end of one path, of any policy kind."""
    outcomes: list[dict[str, Json]] = []
    for path in question.paths:
        fields = [plain(policy.resolution.spec) for policy in question.before.effective_on(path)]
        if on_path(path, key):
            outcomes.append({name: value for spec in fields for name, value in spec.items()})
    return expected, _one([outcome for position, outcome in enumerate(outcomes) if outcome not in outcomes[:position]])


def _on_paths(
    analysis: Analysis, paths: Iterable[Path], expected: Collection[str], kind: GroupKind | None = None
) -> list[dict[str, Json]]:
    """Return the effective fields at the end of each path, by policy kind, every distinct outcome once.

    gwctl's word "effective" is about inherited policies alone; a kind that is `expected` counts whatever its class.
    """
    outcomes: list[dict[str, Json]] = []
    for path in paths:
        outcome: dict[str, Json] = {
            str(effective.resolution.kind): plain(effective.resolution.spec)
            for effective in analysis.effective_on(path)
            if kind in {None, effective.resolution.kind}
            and (str(effective.resolution.kind) in expected or inherited(analysis, effective.resolution.kind))
        }
        if outcome not in outcomes:
            outcomes.append(outcome)
    return outcomes


def _effective_of(analysis: Analysis, paths: Iterable[Path], kind: GroupKind | None) -> list[EffectivePolicy]:
    """Return the effective policies of one kind (of any, if None) on the paths."""
    return [
        policy for path in paths for policy in analysis.effective_on(path) if kind in {None, policy.resolution.kind}
    ]


def errors(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare sentences with the problems of the subject or, without a subject, of the world."""
    reported, exhaustive = question.problems, question.subject is not None or not items(expected)
    return _compared(expected, reported, exhaustive=exhaustive)


def dangling(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare pairs `Kind name -> Kind name` of references to missing objects."""
    return errors(question, key, [f"dangling {sentence}" for sentence in items(expected)])


def changed_objects(objects_in: Callable[[StateDiff], Iterable[ObjectRef]]) -> Answer:
    """Return the answer that compares objects that differ between the two worlds."""
    return lambda question, _, expected: (
        sorted(map(str, items(expected))),
        sorted(map(str, objects_in(question.difference))),
    )


def changed_problems(problems_of: Callable[[ProblemChanges], Iterable[Diagnostic]]) -> Answer:
    """Return the answer that compares problems of one world, or of both; gwctl looks at changed objects alone."""
    return lambda question, _, expected: _compared(expected, problems_in(problems_of(question.difference.problems)))


def _compared(expected: Json, reported: Iterable[Problem], *, exhaustive: bool = True) -> tuple[object, object]:
    """Return the sentences, and those that a problem fits; with `exhaustive` also the problems that fit no sentence."""
    wanted, problems = [str(sentence) for sentence in items(expected)], tuple(reported)
    claimed_by = {sentence: claims(sentence) for sentence in wanted}
    fitted = {claim for claimed in claimed_by.values() for claim in claimed if any(map(claim.fits, problems))}
    met = [sentence for sentence, claimed in claimed_by.items() if fitted.issuperset(claimed)]
    beyond = [problem.words for problem in problems if exhaustive and not any(claim.fits(problem) for claim in fitted)]
    return wanted, [*met, *beyond]
