"""Builders for what controllers report, and short forms of what comes of comparing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import ConditionWords, Event, Placement, StatusProfile
from kubectl_policy.profiles.fields import KnownBy, SameLevel
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.status.comparison import Comparison
from kubectl_policy.questions.status.report import StatusReport, status
from tests import build
from tests.questions.build import COLOR

MINE: Final = "example.com/gateway"
RULES: Final = TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True)
WORDS: Final[Mapping[Event, ConditionWords]] = {
    "accepted": ConditionWords("Seen", "True", "Fine"),
    "target missing": ConditionWords("Seen", "False", "NoTarget"),
    "conflicted": ConditionWords("Seen", "False", "Taken"),
    "enforced": ConditionWords("Works", "True", "All"),
    "no effect": ConditionWords("Works", "False", "Nothing"),
    "affected": ConditionWords("Coloured", "True", "By"),
}
TO_ROUTE: Final = build.ON_ROUTE
FINE: Final = ("Seen", "True", "Fine")
WORKS: Final = ("Works", "True", "All")
ACCEPTED: Final = ("Accepted", "True", "Accepted")
RESOLVED: Final = ("ResolvedRefs", "True", "ResolvedRefs")


def kind(  # noqa: PLR0913 (a builder is read by its keywords)
    placement: Placement = "parents",
    *,
    words: Mapping[Event, ConditionWords] = WORDS,
    controllers: Sequence[str] = (MINE,),
    same_level: SameLevel | None = "one-applies",
    approximate: bool = False,
    known_by: KnownBy = "profile",
) -> PolicyKindProfile:
    """ColorPolicies, which take effect on rules and report in words of their own."""
    return PolicyKindProfile(
        COLOR,
        "inherited",
        known_by,
        controllers=frozenset(controllers),
        effective_targets=(RULES,),
        same_level=same_level,
        stanzas="none",
        status=StatusProfile(placement=placement, conditions={event: (each,) for event, each in words.items()}),
        approximate=approximate,
    )


def condition(words: tuple[str, str, str], seen: int | None = None, message: str = "said") -> dict[str, Json]:
    found: dict[str, Json] = {"type": words[0], "status": words[1], "reason": words[2], "message": message}
    return found if seen is None else {**found, "observedGeneration": seen}


def ancestor(*conditions: Json, controller: str = MINE, **reference: Json) -> dict[str, Json]:
    """An entry of `status.ancestors`, about Gateway `g` unless told otherwise."""
    return {"ancestorRef": {"name": "g", **reference}, "controllerName": controller, "conditions": list(conditions)}


def parent(*conditions: Json, controller: str = MINE, **reference: Json) -> dict[str, Json]:
    """An entry of `status.parents`, about Gateway `g` unless told otherwise."""
    return {"parentRef": {"name": "g", **reference}, "controllerName": controller, "conditions": list(conditions)}


def reported(resource: Resource, generation: int | None = None, **said: Json) -> Resource:
    metadata = resource.raw["metadata"]
    assert isinstance(metadata, dict)
    own = metadata if generation is None else {**metadata, "generation": generation}
    return replace(resource, raw={**resource.raw, "metadata": own, "status": said})


def policy(name: str = "p", *targets: Mapping[str, Json], age: int = 1) -> Resource:
    """A ColorPolicy on route `r` unless told otherwise."""
    return build.policy(name, *(targets or (TO_ROUTE,)), age=age, color=name)


def world() -> tuple[Resource, ...]:
    """GatewayClass `public`, Gateway `g`, and route `r` to Service `s`."""
    return build.gateway_class("public", MINE), build.gateway("g"), build.route("r"), build.service("s")


def compared(
    *resources: Resource,
    profile: PolicyKindProfile | None = None,
    word: str = "",
    names: tuple[str, ...] = (),
    complete: bool = False,
    gaps: Sequence[Gap] = (),
) -> StatusReport:
    analysis = analyze(
        build.listed(build.snapshot(*resources, complete=complete, gaps=gaps)),
        profiles=[profile] if profile else [kind()],
    )
    return status(analysis, word, Selection("default" if names else "", names))


def verdicts(report: StatusReport) -> list[tuple[str, str, str, str]]:
    """Of each comparison the object's name, the place, the type and the verdict."""
    return [
        (one.resource.ref.name, str(found.at or ""), found.type, found.verdict) for one, found in report.comparisons
    ]


def only(report: StatusReport) -> Comparison:
    (found,) = (found for _, found in report.comparisons if found.verdict != "Agrees")
    return found
