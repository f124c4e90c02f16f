"""What this project says to gwctl's questions for effective policies."""

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
    """By kind; or by parent, then by kind; or, of one kind, the fields alone."""
    analysis, paths, kind = question.before, question.paths, question.policy_kind
    wanted = fields(expected)
    by_parent = {key: key.rpartition("/")[2] for key in wanted if " " in key}
    if by_parent:
        found: dict[str, Json] = {}
        for key, name in by_parent.items():
            through = [path for path in paths if name in {node.object.name for node in path}]
            found[key] = _one(_on_paths(analysis, through, set(fields(wanted[key]))))
        return expected, found
    outcome = _one(_on_paths(analysis, paths, set(wanted), kind))
    return expected, outcome.get(str(kind), {}) if kind and isinstance(outcome, dict) else outcome


def _one(outcomes: list[dict[str, Json]]) -> Json:
    """The outcome that all paths share; all of them, if they differ."""
    return outcomes[0] if len(outcomes) == 1 else list(outcomes) or "no such path"


def declared(*, overrides: bool) -> Answer:
    """An answer that is the effective fields declared as overrides, or those declared as defaults."""
    return lambda question, _, expected: (
        expected,
        _of_leaves(question, lambda leaf: leaf.value, lambda leaf: leaf.source.overrides == overrides),
    )


def provenance(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """By field, the name of the policy that set it."""
    return expected, _of_leaves(question, lambda leaf: leaf.source.object.name)


def _of_leaves(
    question: Question, told: Callable[[Leaf], Json], asked: Callable[[Leaf], bool] = lambda _: True
) -> Json:
    """By field, what there is to tell of each leaf that is asked for; the same on all paths."""
    found: list[dict[str, Json]] = []
    for one in _effective_of(question.before, question.paths, question.policy_kind):
        outcome = {".".join(field): told(leaf) for field, leaf in leaves(one.spec) if asked(leaf)}
        if outcome not in found:
            found.append(outcome)
    return _one(found)


def strategy(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """A sentence that says by which strategy the policies are merged, by its name or by the stanza's words for it."""
    found = _effective_of(question.before, question.paths, question.policy_kind)
    used = [part.strategy.value for one in found for part in one.contributions[:1]]
    return expected, expected if used and all(_says(str(expected), name) for name in used) else used


def _says(sentence: str, strategy: str) -> bool:
    """Whether a sentence has the words of a strategy; a stanza that merges is one that patches."""
    words = sentence.lower().replace("strategy: merge", "patch")
    return all(word in words for word in strategy.lower().split())


def effective_on_path(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """The fields at the end of one path, of whatever kind of policy."""
    found: list[dict[str, Json]] = []
    for path in question.paths:
        fields = [plain(one.spec) for one in question.before.effective_on(path)]
        if on_path(path, key):
            found.append({name: value for spec in fields for name, value in spec.items()})
    return expected, _one([outcome for place, outcome in enumerate(found) if outcome not in found[:place]])


def _on_paths(
    analysis: Analysis, paths: Iterable[Path], expected: Collection[str], kind: GroupKind | None = None
) -> list[dict[str, Json]]:
    """What is effective at the end of each path, by policy kind, each different outcome once.

    gwctl's word "effective" is about inherited policies alone; a kind that is `expected` counts whatever its class.
    """
    found: list[dict[str, Json]] = []
    for path in paths:
        outcome: dict[str, Json] = {
            str(effective.kind): plain(effective.spec)
            for effective in analysis.effective_on(path)
            if kind in {None, effective.kind}
            and (str(effective.kind) in expected or inherited(analysis, effective.kind))
        }
        if outcome not in found:
            found.append(outcome)
    return found


def _effective_of(analysis: Analysis, paths: Iterable[Path], kind: GroupKind | None) -> list[EffectivePolicy]:
    """The effective policies of one kind (of any, if None) on the paths."""
    return [one for path in paths for one in analysis.effective_on(path) if kind in {None, one.kind}]
