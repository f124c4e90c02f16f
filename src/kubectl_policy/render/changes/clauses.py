"""What happens to objects, in clauses: said of them, or after the name of what does it to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.render.words.names import count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from kubectl_policy.model import Diagnostic, ObjectRef
    from kubectl_policy.render.changes.summary import ChangeSummary, TrafficChange

_PLURAL: Final = {
    "is": "are",
    "has": "have",
    "loses": "lose",
    "gets": "get",
    "gains": "gain",
    "takes": "take",
}


class Consequence(Struct, frozen=True):
    """What happens to some objects, as a sentence about them, and after the name of what does it to them."""

    of: Callable[[ChangeSummary], Collection[ObjectRef]]
    noun: str
    passive: str
    active: str


ATTACHMENT: Final = (
    Consequence(
        lambda summary: summary.without_class,
        "Gateway",
        "{who} {is} left without a GatewayClass",
        "leaves {who} without a GatewayClass",
    ),
    Consequence(lambda summary: summary.detached, "route", "{who} {is} detached from a parent", "detaches {who}"),
    Consequence(
        lambda summary: summary.attached, "route", "{who} {is} newly attached to a parent", "attaches {who} to a parent"
    ),
    Consequence(
        lambda summary: summary.without_target,
        "policy",
        "{who} {is} left without a target",
        "leaves {who} without a target",
    ),
    Consequence(lambda summary: summary.losing_target, "policy", "{who} {loses} a target", "takes a target from {who}"),
    Consequence(lambda summary: summary.gaining_target, "policy", "{who} {gains} a target", "gives a target to {who}"),
    Consequence(
        lambda summary: summary.unsure,
        "object",
        "what {who} {is} attached to is no longer known",
        "leaves it unknown what {who} {is} attached to",
    ),
)
FORCE: Final = (
    Consequence(
        lambda summary: summary.undecided,
        "policy",
        "whether {who} {is} enforced is no longer known",
        "leaves it unknown whether {who} {is} enforced",
    ),
    Consequence(lambda summary: summary.into_force, "policy", "{who} {takes} effect", "puts {who} into effect"),
    Consequence(
        lambda summary: summary.out_of_force, "policy", "{who} {is} left without effect", "leaves {who} without effect"
    ),
    Consequence(
        lambda summary: summary.new_without_effect,
        "policy",
        "{who} {is} new and {has} no effect",
        "leaves {who} without effect",
    ),
)


def relation_clauses(summary: ChangeSummary) -> list[str]:
    """What happens to routes and policies, said of them."""
    return [
        said(row.passive, who_words(refs, row.noun), one=len(refs) == 1)
        for row in (*ATTACHMENT, *FORCE)
        if (refs := row.of(summary))
    ]


def active_clauses(table: Collection[Consequence], summary: ChangeSummary) -> list[str]:
    """What happens to routes and policies, after the name of what does it to them."""
    return [
        said(row.active, who_words(refs, row.noun), one=len(refs) == 1) for row in table if (refs := row.of(summary))
    ]


def traffic_clauses(summary: ChangeSummary, *, active: bool = False) -> Iterator[str]:
    """Where traffic ends and begins; `active`: after the name of what does that."""
    if ended := _extent(summary.ended):
        yield f"{'ends traffic' if active else 'traffic ends'} {ended}"
    if begun := _extent(summary.begun):
        yield f"{'starts traffic' if active else 'traffic starts'} {begun}"
    if summary.rerouted:
        to = who_words(summary.rerouted)
        yield f"leads traffic to {to} on other paths" if active else f"traffic takes other paths to {to}"


def _extent(change: TrafficChange) -> str:
    """`for 5 objects and on at least one path of 3 more`; empty if there is no object."""
    parts = [f"for {who_words(change.on_all_paths)}"] if change.on_all_paths else []
    if change.on_some_paths:
        number = len(change.on_some_paths)
        some = who_words(change.on_some_paths) if not change.on_all_paths or number == 1 else f"{number} more"
        parts.append(f"on at least one path of {some}")
    return " and ".join(parts)


def problem_clauses(introduced: Collection[Diagnostic], fixed: Collection[Diagnostic]) -> Iterator[str]:
    """`2 problems are introduced`, `1 problem is fixed`; nothing where there are none."""
    for verb, problems in (("introduced", introduced), ("fixed", fixed)):
        if problems:
            yield f"{count(len(problems), 'problem')} {'is' if len(problems) == 1 else 'are'} {verb}"


def since_words(summary: ChangeSummary) -> str:
    """`, since SecurityPolicy infra/admin becomes invalid`, where requests fail for that."""
    become = "becomes" if len(summary.failing) == 1 else "become"
    return f", since {who_words(summary.failing, 'policy')} {become} invalid" if summary.failing else ""


def security_words(summary: ChangeSummary) -> str:
    """`, including security settings on 1 of them`; empty if nothing that changes is one."""
    number, total = len(summary.security & summary.changed), len(summary.changed)
    if not number:
        return ""
    return ", including security settings" + ("" if number == total else f" on {number} of them")


def namespace_words(names: Collection[str]) -> str:
    """` in 2 namespaces`, ` in namespace baker`; cluster-scoped objects are in none."""
    named = sorted({*names} - {""})
    if len(named) == 1:
        return f" in namespace {named[0]}"
    return f" in {count(len(named), 'namespace')}" if named else ""


def who_words(refs: Collection[ObjectRef], noun: str = "object") -> str:
    """The number of some objects, or the name of the only one."""
    return str(next(iter(refs))) if len(refs) == 1 else count(len(refs), noun)


def said(template: str, subject: str, *, one: bool) -> str:
    """A template with its subject, and with verbs that agree with it."""
    verbs = {word: word if one else plural for word, plural in _PLURAL.items()}
    return template.format(who=subject, **verbs)
