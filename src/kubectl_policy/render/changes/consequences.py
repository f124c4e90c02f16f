"""The words for what a difference does to objects, routes and policies: said of them, or of what does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.words.names import count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.render.changes.summary import ChangeSummary, TrafficChange

_PLURAL: Final = {
    "is": "are",
    "has": "have",
    "loses": "lose",
    "gets": "get",
    "gains": "gain",
    "comes": "come",
}


@dataclass(frozen=True, slots=True)
class _Consequence:
    """What happens to some objects, as a sentence about them, and after the name of what does it to them."""

    of: Callable[[ChangeSummary], Collection[ObjectRef]]
    noun: str
    passive: str
    active: str


_ATTACHMENT: Final[tuple[_Consequence, ...]] = (
    _Consequence(
        lambda found: found.without_class,
        "Gateway",
        "{who} {is} left without a GatewayClass",
        "leaves {who} without a GatewayClass",
    ),
    _Consequence(lambda found: found.detached, "route", "{who} {is} detached from a parent", "detaches {who}"),
    _Consequence(
        lambda found: found.attached,
        "route",
        "{who} {is} newly attached to a parent",
        "attaches {who} to a parent",
    ),
    _Consequence(
        lambda found: found.without_target,
        "policy",
        "{who} {is} left without a target",
        "leaves {who} without a target",
    ),
    _Consequence(lambda found: found.losing_target, "policy", "{who} {loses} a target", "takes a target from {who}"),
    _Consequence(lambda found: found.gaining_target, "policy", "{who} {gains} a target", "gives a target to {who}"),
    _Consequence(
        lambda found: found.unsure,
        "object",
        "what {who} {is} attached to is no longer known",
        "leaves it unknown what {who} {is} attached to",
    ),
)
_FORCE: Final[tuple[_Consequence, ...]] = (
    _Consequence(lambda found: found.into_force, "policy", "{who} {comes} into force", "brings {who} into force"),
    _Consequence(
        lambda found: found.out_of_force, "policy", "{who} {is} left without effect", "leaves {who} without effect"
    ),
    _Consequence(
        lambda found: found.new_without_effect,
        "policy",
        "{who} {is} new and {has} no effect",
        "leaves {who} without effect",
    ),
)


def relations(found: ChangeSummary) -> Iterator[str]:
    """What happens to routes and policies, said of them."""
    for one in (*_ATTACHMENT, *_FORCE):
        if refs := one.of(found):
            yield said(one.passive, who(refs, one.noun), one=len(refs) == 1)


def attachment(found: ChangeSummary) -> Iterator[str]:
    """What happens to the targets of policies and the parents of routes, after the name of what does it."""
    yield from _active(_ATTACHMENT, found)


def force(found: ChangeSummary) -> Iterator[str]:
    """Which policies begin or cease to have an effect, after the name of what does it."""
    yield from _active(_FORCE, found)


def _active(table: Collection[_Consequence], found: ChangeSummary) -> Iterator[str]:
    for one in table:
        if refs := one.of(found):
            yield said(one.active, who(refs, one.noun), one=len(refs) == 1)


def traffic(found: ChangeSummary) -> Iterator[str]:
    """Where traffic ends and begins."""
    yield from (f"traffic ends {words}" for words in _extent(found.ended))
    yield from (f"traffic begins {words}" for words in _extent(found.begun))
    if found.rerouted:
        yield f"traffic takes other paths to {who(found.rerouted)}"


def traffic_done(found: ChangeSummary) -> Iterator[str]:
    """`traffic`, after the name of what does it."""
    yield from (f"ends traffic {words}" for words in _extent(found.ended))
    yield from (f"begins traffic {words}" for words in _extent(found.begun))
    if found.rerouted:
        yield f"leads traffic to {who(found.rerouted)} on other paths"


def _extent(reach: TrafficChange) -> Iterator[str]:
    """`for 5 objects and on at least one path of 3 more`; nothing if there is no object."""
    parts = [f"for {who(reach.on_all_paths)}"] if reach.on_all_paths else []
    if reach.on_some_paths:
        number = len(reach.on_some_paths)
        some = who(reach.on_some_paths) if not reach.on_all_paths or number == 1 else f"{number} more"
        parts.append(f"on at least one path of {some}")
    yield from [" and ".join(parts)] if parts else []


def said(template: str, subject: str, *, one: bool) -> str:
    """A template with its subject, and with verbs that agree with it."""
    verbs = {word: word if one else plural for word, plural in _PLURAL.items()}
    return template.format(who=subject, **verbs)


def who(refs: Collection[ObjectRef], noun: str = "object") -> str:
    """The number of some objects, or the name of the only one."""
    return str(next(iter(refs))) if len(refs) == 1 else count(len(refs), noun)
