"""What a policy kind attaches to, where it takes effect and what is reported, in words: a function for each field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.render.words.names import either, kinds_words, levels_words, listed, section_noun
from kubectl_policy.topology.hierarchy import WITH_LISTENERS
from kubectl_policy.topology.references import ROUTES, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Event, Placement, StatusProfile

_WITH_SECTIONS: Final = (*WITH_LISTENERS, *ROUTES, *WITH_PORTS)
_PLACES: Final[Mapping[Placement, str]] = {
    "policy": "status.conditions of the policy",
    "targets": "status.ancestors of the policy, with an entry for each target",
    "parents": "status.ancestors of the policy, with an entry for each parent of a target route",
    "owners": "status.ancestors of the policy, with an entry for each parent of a target route, or owner of a listener",
    "parentGateways": "status.ancestors of the policy, with an entry for each parent Gateway of a route to the target",
    "gateways": "status.ancestors of the policy, with an entry for each Gateway above the target",
}
_MERGED_WORDS: Final[Mapping[Event, str]] = {
    "enforced": "it has a part in every field that is merged there",
    "partially enforced": "it has a part in some of what is merged there",
    "overridden": "it has no part in something that is merged there",
}


def named_words(profile: PolicyKindProfile) -> str:
    """Where target references stand."""
    if not profile.target_fields and profile.filter_routes:
        return "filters of routes alone"
    if not profile.target_fields:
        return "in a way that is not computed, so nothing is claimed about what a policy affects"
    otherwise = "" if profile.references_alone else "; without any, a policy attaches in a way that is not computed"
    return either(profile.target_fields) + otherwise


def filters_words(profile: PolicyKindProfile) -> str:
    """Which filters may name a policy."""
    if not profile.filter_routes:
        return ""
    backends = "; a filter of a backendRef may do so too, for that backend alone" if profile.backend_filters else ""
    rules = f"a filter of type ExtensionRef in a rule of {kinds_words(profile.filter_routes)} may name a policy"
    return f"{rules}, which then comes before all others on that rule{backends}"


def kinds_allowed_words(profile: PolicyKindProfile) -> str:
    """What may be named, and which parts of it."""
    kinds = profile.declared_targets
    sections = dict.fromkeys(section_noun(kind) for kind in _WITH_SECTIONS if kind in kinds or not kinds)
    meaning = f"; sectionName, where there is one, names one {either(tuple(sections))} of it"
    part = meaning if sections and profile.target_fields else ""
    return (kinds_words(kinds) if kinds else "an object of any kind" if profile.target_fields else "") + part


def virtual_words(profile: PolicyKindProfile) -> str:
    """What is taken to exist."""
    return f"{kinds_words(profile.virtual_targets)}, which no API serves" if profile.virtual_targets else ""


def group_words(profile: PolicyKindProfile) -> str:
    """What a reference means that leaves its group out."""
    return profile.target_group and f"a reference without a group means {profile.target_group}"


def unnamed_words(profile: PolicyKindProfile) -> str:
    """What rules without a name are called."""
    first, second = (profile.unnamed_rules.replace("{n}", number) for number in "12")
    return profile.unnamed_rules and f"{first}, {second} and so on, by their place in the route"


def namespace_words(profile: PolicyKindProfile) -> str:
    """Where a target may be."""
    if profile.cross_namespace is False:
        return "that of the policy alone"
    if not profile.attaches_as_known:
        return ""
    return "that of the policy; another one " + (
        "where a ReferenceGrant permits it" if profile.grant_required else "as well, without a ReferenceGrant"
    )


def needs_words(profile: PolicyKindProfile) -> str:
    """What a policy must refer to."""
    return "; ".join(
        f"{need.field}{' (if given)' if need.optional else ''}, which names "
        + kinds_words(GroupKind(need.group, kind) for kind in need.kinds)
        + "".join(f" ({kind} has no namespace)" for kind in sorted(need.cluster_kinds))
        for need in profile.needs
    )


def switch_words(profile: PolicyKindProfile) -> str:
    """What the parameters of a Gateway must say."""
    enabling = profile.enabled_by
    if enabling is None:
        return ""
    without = "; a Gateway without one is taken to have it" if enabling.without == "allowed" else ""
    return f"{enabling.field}, in the {enabling.group_kind.kind} that is the Gateway's parameters{without}"


def sizes_words(profile: PolicyKindProfile) -> str:
    """Which sizes must not be less than others."""
    return "; ".join(f"{size} must not be less than {either(least)}" for size, least in profile.least_sizes.items())


def invalid_words(profile: PolicyKindProfile) -> str:
    """What becomes of requests where a policy is invalid."""
    return (
        "requests to the targets of an invalid policy get an error response" if profile.when_invalid == "errors" else ""
    )


def existence_words(profile: PolicyKindProfile) -> str:
    """What makes a target exist."""
    if profile.targets_exist == "whenRead":
        return ""
    return "if a route sends requests to it, whether or not there is such an object"


def empty_selector_words(profile: PolicyKindProfile) -> str:
    """What an empty selector does, where that is not what Kubernetes has it do."""
    return "a selector without any requirement selects nothing" if profile.empty_selector == "nothing" else ""


def global_words(profile: PolicyKindProfile) -> str:
    """Whose policies reach every namespace."""
    name = profile.global_namespace
    return name and f"policies in namespace {name} may select objects in every namespace"


def exclusive_words(profile: PolicyKindProfile) -> str:
    """What targets may not share."""
    return profile.exclusive_field and f"no two targets may have an entry of {profile.exclusive_field} in common"


def target_status_words(profile: PolicyKindProfile) -> str:
    """What a target must have."""
    return profile.target_status and f"without {profile.target_status} in its target, a policy does nothing"


def backends_words(profile: PolicyKindProfile) -> str:
    """Which requests a policy sends itself."""
    fields = listed(profile.backend_fields)
    return fields and f"a policy sends requests of its own to those in {fields}"


def reach_words(profile: PolicyKindProfile) -> str:
    """What a policy changes."""
    return "its target alone" if profile.policy_class == "direct" else "its target and what is below it"


def effect_words(profile: PolicyKindProfile) -> str:
    """Where a policy changes behaviour."""
    levels = profile.effective_targets
    if levels:
        return f"at {levels_words(levels)}" + ("; of several on one path, at the last" if len(levels) > 1 else "")
    return "at its target" if profile.policy_class == "direct" else "where each path ends, at a Service for example"


def hostnames_words(profile: PolicyKindProfile) -> str:
    """Which hostnames a route must have for its paths to count."""
    return (
        "a path counts only if a hostname of the route is inside the listener's"
        if profile.hostnames == "inside"
        else ""
    )


def sections_words(profile: PolicyKindProfile) -> str:
    """How a policy on a part of an object relates to the one on the whole of it."""
    relation = profile.sections or ("replace" if profile.policy_class == "direct" else "")
    verb = {"refine": "adds to", "replace": "stands there in place of"}.get(relation)
    return f"a policy on a section {verb} the one on the whole object" if verb else ""


def security_words(profile: PolicyKindProfile) -> str:
    """Which fields protect."""
    if "*" in profile.security_fields:
        return "a protection is lost with any field"
    fields = either(sorted(profile.security_fields))
    return fields and f"a protection is lost with {fields}"


def controllers_words(profile: PolicyKindProfile) -> str:
    """On whose Gateways."""
    if not profile.controllers:
        return "of every controller"
    return f"of {either(sorted(profile.controllers))} alone"


def settings_words(profile: PolicyKindProfile) -> str:
    """What a person can say of how the controllers are set up."""
    return "; ".join(
        f"{name} = {setting.default or 'nothing'}, unless you say otherwise: {setting.description}"
        for name, setting in profile.settings.items()
    )


def status_words(profile: PolicyKindProfile) -> tuple[str, ...]:
    """Where and what the controllers report."""
    return tuple(_report(profile.status))


def status_by_words(profile: PolicyKindProfile) -> tuple[str, ...]:
    """What some controllers report otherwise."""
    return tuple(
        f"by {name}, {line}" if line.startswith("in ") else line
        for name, status in profile.status_by.items()
        for line in _report(status)
    )


def _report(status: StatusProfile) -> Iterator[str]:
    yield from _conditions(status)
    if status.target_annotation:
        yield f"the annotation {status.target_annotation} of a target names the policies attached to it"


def _conditions(status: StatusProfile) -> Iterator[str]:
    if not status.conditions:
        yield "nothing that is known"
        return
    yield f"in {_PLACES[status.placement]}"
    events: dict[str, list[str]] = {}
    otherwise = dict(_MERGED_WORDS if status.enforced_by == "merges" else {})
    if status.affects == "targets":
        otherwise["affected"] = "a policy targets the object, on which this is written"
    for event, words in status.conditions.items():
        elsewhere = event == "narrowed" and status.narrowed_by == "targets"
        meaning = "policies further down take effect instead" if elsewhere else otherwise.get(event, EVENTS[event])
        for condition in words:
            events.setdefault(f"{condition.type} {condition.status} ({condition.reason})", []).append(meaning)
    for said, meanings in events.items():
        yield f"{said} if {either(meanings)}"
