"""Phrases of pictures: names and details of nodes, states of policies, reasons of links, and the headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, LISTENER_HOLDERS, NAMESPACE, ROUTES
from kubectl_policy.model.kinds import listed, names
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.wording.blind_spots import unread_hedge, unread_reason
from kubectl_policy.render.wording.names import count, kind_counts, kind_itself, kind_names
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.questions.graph.picture import GraphLink, GraphNode, GraphPolicy, Mark, Picture
    from kubectl_policy.resolution.enforcement import EnforcementState

# What people call the states of policies; those that never take effect for what they refer to dangle.
STATES: Final[Mapping[EnforcementState, str]] = {
    "Enforced": "enforced",
    "PartiallyEnforced": "partially enforced",
    "Overridden": "overridden",
    "Conflicted": "conflicted",
    "TargetNotFound": "dangling: target not found",
    "NotPermitted": "dangling: not permitted",
    "Invalid": "dangling: invalid",
    "NoEffect": "no effect",
    "Unknown": "not known",
}
MARKS: Final[Mapping[Mark, str]] = {"": "", "added": "+ added", "removed": "- removed", "changed": "~ changed"}
_ABSENT: Final[Mapping[str, str]] = {"missing": "not there", "unknown": "not read"}


def graph_headline(picture: Picture) -> str:
    """`2 Gateways, 9 routes, 5 Services; 11 policies: 7 enforced, 1 overridden, ...`; what was not read hedges it."""
    # An object is there even if one of its sections is not.
    sections_first = sorted(picture.nodes, key=lambda node: not node.ref.section)
    objects = {node.ref.object: node.presence for node in sections_first}
    present = [obj.group_kind for obj, presence in objects.items() if presence == "present"]
    routes = sum(kind in ROUTES for kind in present)
    upper = [kind for kind in present if kind in ABOVE_ROUTES]
    lower = [kind for kind in present if kind not in ROUTES and kind not in ABOVE_ROUTES and kind != NAMESPACE]
    parts = [*([kind_counts(upper)] if upper else []), *([count(routes, "route")] if routes else [])]
    parts += [kind_counts(lower)] if lower else []
    states = Counter(policy.state for policy in picture.policies)
    counts = [f"{states[state]} {label}" for state, label in STATES.items() if states[state]]
    # Of a part, what becomes of policies elsewhere is another question.
    on_part = " on this part" if picture.is_part else ""
    policies = f"{count(len(picture.policies), 'policy')}{on_part}: {', '.join(counts)}" if counts else "no policies"
    absent = Counter(str(presence) for presence in objects.values() if presence != "present")
    lacking = [f"{absent[presence]} {label}" for presence, label in _ABSENT.items() if absent[presence]]
    also = f"; {count(absent.total(), 'object')} that references name: {', '.join(lacking)}" if lacking else ""
    if picture.unknown:
        return f"Whether there is anything to draw is unknown: {unread_reason(picture.unseen)}."
    hedge = unread_hedge(picture.unseen)
    return f"{', '.join(parts) or 'Nothing of the hierarchy'}; {policies}{also}{hedge}.{_difference(picture)}"


def _difference(picture: Picture) -> str:
    """` Compared: 1 object added, 2 removed; settings differ on 9 objects.`: of two states, what is marked."""
    if not picture.two_states:
        return ""
    marks = {node.ref.object: node.mark for node in picture.nodes if node.mark and not node.ref.section}
    marks |= {policy.ref: policy.mark for policy in picture.policies if policy.mark}
    numbers = Counter(map(str, marks.values()))
    counts = [f"{numbers[mark]} {mark}" for mark in MARKS if numbers[mark]]
    differing = {node.ref.object for node in picture.nodes if node.settings_differ}
    settings = f"settings differ on {count(len(differing), 'object')}" if differing else "settings are the same"
    return f" Compared: {', '.join(counts) or 'nothing is added, removed or changed'}; {settings}."


def drawn_kinds(picture: Picture) -> dict[GroupKind, str]:
    """Map each kind in a picture to its name, from the root downward."""
    drawn = (node.ref.object.group_kind for node in picture.nodes)
    return kind_names((*drawn, *(policy.ref.group_kind for policy in picture.policies)))


def policy_state(policy: GraphPolicy) -> str:
    """`overridden by RetryPolicy baker/own`, and what a controller reports to the contrary."""
    phrase = STATES[policy.state]
    by = policy.enforcement.by
    if policy.state == "Overridden" and by:
        phrase += f" by {names(by)}"
    reported = f"; controller reports {policy.contrary.reason or policy.contrary.type}" if policy.contrary else ""
    earlier = f", was {STATES[policy.earlier]}" if policy.earlier else ""
    return f"{phrase}{earlier}{reported}{', may be different' if policy.may_differ else ''}"


def node_title(node: GraphNode) -> str:
    """`listener https`, `rule cart`, `port 8080`; an object by its name."""
    return section_words(node.ref) if node.ref.section else node.ref.object.qualified_name


def node_details(node: GraphNode) -> str:
    """`HTTPS 443 *.example.com`, hostnames, `GET /cart…`: the details of a node, and whether it exists."""
    port, is_listener = "" if node.port is None else str(node.port), node.ref.object.group_kind in LISTENER_HOLDERS
    listener = " ".join(filter(None, (node.protocol, port, node.hostname))) if is_listener else ""
    details = [listener] if listener else []
    details += [", ".join(node.hostnames)] if node.hostnames else []
    details += [" or ".join(map(match_phrase, node.matches))] if node.matches else []
    details += [port] if port not in {"", node.ref.section} and not is_listener else []
    details += [presence_phrase(node)] if presence_phrase(node) else []
    return ", ".join(details)


def presence_phrase(node: GraphNode) -> str:
    """`does not exist`, `not read`, or what else there is to know about its being there; empty for most."""
    if node.virtual:
        return "virtual: no API serves its kind"
    if node.may_differ and not node.ref.section:
        return "may be different"
    return {"present": "", "missing": "does not exist", "unknown": "not read"}[node.presence]


def match_phrase(match: Json) -> str:
    """`GET /cart/…`, `header x-team`: what a match of a rule asks of a request, in a few words."""
    if not isinstance(match, Mapping):
        return "?"
    parts = [text_at(match, "method")]
    # Of gRPC, a service and a method of it.
    parts.append("/".join(filter(None, (text_at(match, "method.service"), text_at(match, "method.method")))))
    if "path" in match:
        path, sort = text_at(match, "path.value", "/"), text_at(match, "path.type", "PathPrefix")
        parts.append(
            path if sort == "Exact" else f"{path.rstrip('/')}/…" if sort == "PathPrefix" else f"{path} ({sort})"
        )
    for field, noun in (("headers", "header"), ("queryParams", "query")):
        parts += [f"{noun} {text_at(condition, 'name', '?')}" for condition in mappings_at(match, field)]
    return " ".join(filter(None, parts)) or "any request"


def link_reason(link: GraphLink) -> str:
    """Return the reason why a link carries no requests, in the API's own word if there is one; else empty."""
    if link.state == "attached":
        return ""
    return link.reason or ("not known" if link.state == "unknown" else link.message or link.state)


def api_reason(attachment: Attachment) -> str:
    """Return the reason why a reference is not attached, in the API's own word if there is one; else empty."""
    if attachment.state == "attached":
        return ""
    return MEANINGS[attachment.state].api_reason or attachment.state


def outcome_lines(node: GraphNode) -> Iterator[str]:
    """`RetryPolicy: attempts 5 (baker/quick), on listener https only`: what is in force at a node, a line each."""
    outcome = node.outcome
    if not outcome:
        return
    which = PathPhrases(outcome.paths)
    for group in outcome.groups:
        names_of_policies = listed([ref.qualified_name for ref in group.policies])
        by = f" ({names_of_policies or kind_itself(group.policy_kind)})"
        scope = f", on {which.words(group.positions)}" if len(group.positions) < len(outcome.paths) else ""
        perhaps = "" if group.certain else ", may hold"
        name = "" if not group.policies else f"{group.policy_kind.kind}: "
        yield f"{name}{', '.join(group.summary) or 'in force'}{by}{scope}{perhaps}"
