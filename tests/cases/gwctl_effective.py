"""Answers to gwctl's questions for effective policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import leaves, plain
from tests.cases.gwctl_blast import on_path
from tests.cases.gwctl_question import inherited
from tests.cases.worlds import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kubectl_policy import Analysis, EffectivePolicy, GroupKind, Leaf, Path
    from kubectl_policy.model import Json
    from tests.cases.gwctl_question import Answer, Question


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
