"""The smallest edit of one object that makes a policy effective, found by trying edits on the analysed world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.comparison import what_if
from kubectl_policy.questions.edit import Edit, Generator
from kubectl_policy.questions.editing import changes
from kubectl_policy.questions.edits_of_precedence import (
    come_first,
    leave_target,
    merge_differently,
    override,
    remove_other,
    yield_to_it,
)
from kubectl_policy.questions.edits_of_references import grant_need, grant_target, label_it, name_in_filter, name_it
from kubectl_policy.questions.edits_of_routes import (
    add_hostname,
    admit_listener_set,
    choose_class,
    choose_listener,
    grant_backend,
    mend_port,
    name_parent,
    narrow_hostname,
    open_namespaces,
    switch_on,
    take_kind,
)
from kubectl_policy.questions.effect_on import effect_on
from kubectl_policy.validation.pruning import pruned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.edit import Case

# Each one takes an analysis of the world with it.
_MOST_TRIED: Final = 20

# Of which reasons there are edits that might do away with them; of those that are not here, naming the node might.
GENERATORS: Final[tuple[tuple[tuple[str, ...], Generator], ...]] = (
    (("not-selected",), label_it),
    (("not-permitted",), grant_target),
    (("need-not-permitted",), grant_need),
    (("no-filter", "filter-unsupported"), name_in_filter),
    (("no-parent", "parent-missing", "no-traffic"), name_parent),
    (("listener-missing", "listener-port"), choose_listener),
    (("listener-set-refused",), admit_listener_set),
    (("listener-kind",), take_kind),
    (("listener-namespace",), open_namespaces),
    (("listener-hostname",), add_hostname),
    (("hostname-too-wide",), narrow_hostname),
    (("backend-not-permitted",), grant_backend),
    (("backend-broken",), mend_port),
    (("other-controller",), choose_class),
    (("not-enabled",), switch_on),
    (("superseded", "beaten-on-target", "overridden", "replaced-by-section"), override),
    (("superseded", "beaten-on-target", "overridden"), merge_differently),
    (("overridden", "beaten-on-target"), yield_to_it),
    (("refused", "beaten-on-target"), come_first),
    (("refused", "beaten-on-target"), leave_target),
    (("superseded", "beaten-on-target", "overridden", "refused", "replaced-by-section"), remove_other),
)


class Found(NamedTuple):
    """The smallest edit that works, None if none does, and how many were tried."""

    edit: Edit | None
    tried: int


def find_edit(case: Case) -> Found:
    """The first of the edits that might help, smallest first, that is known to.

    Deleting an object comes last, and of edits of one size those of the policy itself come first, then those of the
    object that is asked about.
    """
    ordered = sorted(_distinct(case), key=lambda edit: _rank(case, edit))[:_MOST_TRIED]
    for number, edit in enumerate(ordered, 1):
        if works(case, edit):
            return Found(edit, number)
    return Found(None, len(ordered))


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


def works(case: Case, edit: Edit) -> bool:
    """Whether a policy has an effect on a node when an edit is applied, and nothing is wrong with what it edits."""
    applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
    after = what_if(case.analysis, applied=applied, deleted=deleted).after
    policy = case.policy.ref
    if after.registry.profile_of(policy.group_kind) is None or not _is_kept(after, edit):
        return False
    if not effect_on(after, policy, case.target).in_force:
        return False
    return _errors(after, edit.object) <= _errors(case.analysis, edit.object)


def _is_kept(after: Analysis, edit: Edit) -> bool:
    """Whether an API server keeps all fields that an edit sets, as far as the definition of the kind was read."""
    kind = edit.object.group_kind
    schema = after.index.defaults.schema_of(kind) if kind in after.index.definitions else None
    if not schema or not edit.before or not edit.after:
        return True
    kept = (*changes(pruned(edit.before.raw, schema), pruned(edit.after.raw, schema)),)
    return [change.path for change in kept if change.added] == [one.path for one in edit.changes if one.added]


def _errors(analysis: Analysis, obj: ObjectRef) -> set[tuple[str, str]]:
    return {(found.rule, found.message) for found in analysis.problems_of(obj) if found.severity == "error"}
