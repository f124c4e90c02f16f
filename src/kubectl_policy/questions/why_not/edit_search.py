"""The smallest edit of one object that makes a policy effective, found by trying edits on the analysed world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.comparison import what_if
from kubectl_policy.questions.shared.effects import affected
from kubectl_policy.questions.why_not.edits_of_precedence import (
    come_first,
    leave_target,
    merge_differently,
    override,
    remove_other,
    yield_to_policy,
)
from kubectl_policy.questions.why_not.edits_of_references import (
    grant_need,
    grant_target,
    label_it,
    name_in_filter,
    name_it,
    name_overlapping,
    nameable_kinds,
)
from kubectl_policy.questions.why_not.edits_of_routes import (
    add_hostname,
    admit_listener_set,
    allow_kind,
    choose_class,
    choose_listener,
    enable_kind,
    fix_parent,
    grant_backend,
    name_parent,
    narrow_hostname,
    open_namespaces,
)
from kubectl_policy.questions.why_not.effect_on import effect_on
from kubectl_policy.questions.why_not.reasons import named
from kubectl_policy.resolution.spec_proper import stanzas_of
from kubectl_policy.validation.pruning import pruned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.why_not.edit import Case, Edit, Generator

# Each one takes an analysis of the world with it.
_MOST_TRIED: Final = 20

# What no edit does away with, because only a person can say what is meant.
_BEYOND_EDITS: Final[Mapping[str, str]] = {
    "not-computed": "how the policy attaches is not computed, so that no change can be checked",
    "no-fields": "the policy has to declare what it is to set",
    "policy-invalid": "what the policy needs has to be there first",
}

# Of which reasons there are edits that might do away with them; of those that are not here, naming the node might.
GENERATORS: Final[tuple[tuple[tuple[str, ...], Generator], ...]] = (
    (("not-selected",), label_it),
    (("target-overlaps",), name_overlapping),
    (("not-permitted",), grant_target),
    (("need-not-permitted",), grant_need),
    (("no-filter", "filter-unsupported"), name_in_filter),
    (("parent-missing",), fix_parent),
    (("no-parent", "parent-missing"), name_parent),
    (("listener-missing", "listener-port"), choose_listener),
    (("listener-set-refused",), admit_listener_set),
    (("listener-kind",), allow_kind),
    (("listener-namespace",), open_namespaces),
    (("listener-hostname",), add_hostname),
    (("hostname-too-wide",), narrow_hostname),
    (("backend-not-permitted",), grant_backend),
    (("other-controller",), choose_class),
    (("not-enabled",), enable_kind),
    (("superseded", "beaten-on-target", "overridden", "replaced-by-section"), override),
    (("superseded", "beaten-on-target", "overridden"), merge_differently),
    (("overridden", "beaten-on-target"), yield_to_policy),
    (("refused", "beaten-on-target"), come_first),
    (("refused", "beaten-on-target"), leave_target),
    (("superseded", "beaten-on-target", "overridden", "refused", "replaced-by-section"), remove_other),
)


class EditSearch(NamedTuple):
    """The smallest edit that works, None if none does, and how many were tried.

    `lost` are the nodes on which the policy has an effect as long as the edit is not made; `obstacle` says in words why
    no edit of one object will do.
    """

    edit: Edit | None
    tried: int
    lost: tuple[NodeRef, ...] = ()
    obstacle: str = ""


def find_edit(case: Case) -> EditSearch:
    """The first of the edits that might help, smallest first, that is known to.

    Deleting an object comes last, and of edits of one size those of the policy itself come first, then those of the
    object that is asked about.
    """
    ordered = sorted(_distinct(case), key=lambda edit: _rank(case, edit))[:_MOST_TRIED]
    for number, edit in enumerate(ordered, 1):
        after = _applied(case, edit)
        if _works(case, edit, after):
            return EditSearch(edit, number, _lost(case, after))
    return EditSearch(None, len(ordered), obstacle=_obstacle(case, len(ordered)))


def _obstacle(case: Case, tried: int) -> str:
    """Why no edit of one object will do, as far as that can be told."""
    policy, target = case.policy.ref, case.target.object
    for reason in case.reasons:
        if reason.rule in _BEYOND_EDITS:
            return _BEYOND_EDITS[reason.rule]
    away = case.profile.cross_namespace is False and target.namespace not in {"", policy.namespace}
    if away and target.group_kind in nameable_kinds(case):
        own = f"a {policy.kind} can name its own namespace {policy.namespace} alone"
        return f"{own}, so it would have to be moved to namespace {target.namespace}"
    if not tried:
        return f"nothing in one object would let it reach {named(case.target)}"
    return (
        f"of the {tried} that were tried none gives it an effect"
        if tried > 1
        else "the one that was tried gives it none"
    )


def _lost(case: Case, after: Analysis) -> tuple[NodeRef, ...]:
    """Where the policy had an effect, and has none any more."""
    old, new = (affected(one.enforcement(case.policy.ref), case.profile) for one in (case.analysis, after))
    return tuple(node for node in old if node not in new)


def _distinct(case: Case) -> list[Edit]:
    found: dict[str, Edit] = {}
    for edit in _candidates(case):
        key = repr((edit.object, edit.action, edit.changes))
        found.setdefault(key, edit)
    return list(found.values())


def _candidates(case: Case) -> Iterator[Edit]:
    """What each reason gives rise to, in the order of reasons; that the policy names the node may help always."""
    for reason in case.reasons:
        for rules, generator in GENERATORS:
            if reason.rule in rules:
                yield from generator(case, reason)
    for reason in case.reasons[:1]:
        yield from name_it(case, reason)


def _rank(case: Case, edit: Edit) -> tuple[bool, int, int]:
    own: tuple[ObjectRef, ...] = (case.policy.ref, case.target.object)
    return edit.action == "delete", edit.size, own.index(edit.object) if edit.object in own else len(own)


def _applied(case: Case, edit: Edit) -> Analysis:
    """The analysis of the world with an edit made."""
    applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
    return what_if(case.analysis, applied=applied, deleted=deleted).after


def _works(case: Case, edit: Edit, after: Analysis) -> bool:
    """Whether a policy has an effect on a node after an edit, and nothing is wrong with what it edits."""
    policy = case.policy.ref
    if after.registry.profile_of(policy.group_kind) is None or not _is_kept(after, edit):
        return False
    if edit.object == policy and edit.after and _settings(case, edit.after) != _settings(case, case.policy):
        return False
    if not effect_on(after, policy, case.target).in_force:
        return False
    return _errors(after, edit.object) <= _errors(case.analysis, edit.object)


def _settings(case: Case, policy: Resource) -> list[dict[str, Json]]:
    """What a policy sets, stanza by stanza: to say something else is no way to have what it says take effect."""
    order = case.profile.order_field
    found = stanzas_of(policy.raw, case.profile)
    return [{key: value for key, value in part.spec.items() if f"spec.{key}" != order} for part in found]


def _is_kept(after: Analysis, edit: Edit) -> bool:
    """Whether an API server keeps all fields that an edit sets, as far as the definition of the kind was read."""
    kind = edit.object.group_kind
    schema = after.index.defaults.schema_of(kind) if kind in after.index.definitions else None
    if not schema or edit.action != "change" or not edit.after:
        return True
    kept = pruned(edit.after.raw, schema)
    return all([change.path.get(kept)] == [*change.added] for change in edit.changes if change.added)


def _errors(analysis: Analysis, obj: ObjectRef) -> set[tuple[str, str]]:
    return {(found.rule, found.message) for found in analysis.problems_of(obj) if found.severity == "error"}
