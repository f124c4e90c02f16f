"""Regressions that a change causes (GWP9101 to GWP9105)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lint.changes.causes import Causes
from kubectl_policy.lint.changes.takeovers import Takeover, takeovers
from kubectl_policy.lint.finding import MAX_RELATED, Finding, Related, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import mappings_at, same_json, text_at
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.resolution.enforcement import ENFORCEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.differences.effects import EffectChange, FieldChange
    from kubectl_policy.questions.differences.traffic import RouteTraffic


@lint_rule("GWP9101", "error", "base", guards=True)
def security_setting_lost(world: LintWorld) -> Iterator[Finding]:
    """A change removes a security setting from requests, or changes its value.

    Requests that needed a token, were rate-limited or were encrypted no longer are, or in another way: a policy is
    deleted, is overridden by a new one, or no longer reaches the route. The profile of each kind says which settings
    concern security. The rule needs `--diff-base`.

    Source: EG#8781 and ai-gateway#2622, about settings that a nearer policy replaces without a word.
    """
    for effect in world.difference.effects if world.difference else ():
        if effect.harmful and any(_concerns(world, affected.node.object) for affected in effect.objects):
            yield _settings_lost(world, effect)


def _settings_lost(world: LintWorld, effect: EffectChange) -> Finding:
    harmful = [change for change in effect.fields if change.harmful]
    lost = [change for change in harmful if change.sort == "lost"]
    reported = lost or harmful
    after = {change.after.source.object: None for change in harmful if change.after}
    before = {change.before.source.object: None for change in harmful if change.before}
    routes = [affected.node.object for affected in effect.objects]
    changed = world.comparison.changed if world.comparison else frozenset[ObjectRef]()
    # What sets it now is where it can be put right, or what set it and is changed, else what has it no more.
    candidates = (*after, *(policy for policy in before if policy in changed), *reversed(routes))
    subject = next((candidate for candidate in candidates if world.ref_in_scope(candidate)), None)
    fields = some([_phrase(change) for change in reported])
    gone = _items_of(reported[0])[0] if len(reported) == 1 and not lost else []
    fate = "is lost" if lost else f"has lost {some(gone)}" if gone else "has another value"
    values = [value for change in harmful for value in (change.before, change.after) if value]
    objects = some([node_phrase(changed.node) for changed in effect.objects])
    field = _changed_field(world, subject, routes[0]) if subject in changed else ""
    return Finding(
        subject=subject,
        field=field,
        message=f"{fields} of {effect.policy_kind.kind} {fate} for {objects}",
        certain=not effect.doubts and all(value.certain for value in values),
        related=tuple(_as_before(world, policy, "set it before") for policy in before if policy != subject),
    )


def _changed_field(world: LintWorld, policy: ObjectRef, route: ObjectRef) -> str:
    assert world.comparison  # noqa: S101 (without it, nothing is changed)
    return str(Causes(world.comparison).change(policy, route).field)


def _phrase(change: FieldChange) -> str:
    """Return a field with the names of the items of its list that are lost with it, or differ."""
    gone, differing = _items_of(change)
    names = (gone if change.sort == "lost" else []) or differing
    field = change.field or "what it sets"
    return f"{field} ({some(names)})" if names else field


def _items_of(change: FieldChange) -> tuple[list[str], list[str]]:
    """Return the names of the items that a list has lost, and of those that differ."""
    before, after = (_items(value.value if value else None) for value in (change.before, change.after))
    gone = [name for name in before if name not in after]
    return gone, [name for name in before if name in after and not same_json(before[name], after[name])]


def _items(value: Json) -> Mapping[str, Json]:
    """Return the items of a list of named things by their names; empty for any other value."""
    items = mappings_at({"items": value}, "items")
    return {name: item for item in items if (name := text_at(item, "name"))}


@lint_rule("GWP9102", "error", "base")
def traffic_lost(world: LintWorld) -> Iterator[Finding]:
    """A change takes requests from a route, or makes some of them fail.

    The route is deleted, is no longer attached to a listener at which it received requests, or has a backend that can
    no longer be reached. A deleted route is a warning, because the change may intend it. The rule needs `--diff-base`.

    Source: HTTPRouteRule.BackendRefs, for requests without a backend (Gateway API, apis/v1/httproute_types.go).
    """
    lost = world.difference.traffic.lost if world.difference else None
    for traffic in lost.all if lost else ():
        if _concerns(world, traffic.route):
            yield _requests_lost(world, traffic, "no longer gets requests")
    for traffic in lost.some if lost else ():
        if _concerns(world, traffic.route):
            yield _requests_lost(world, traffic, "gets fewer requests than before")


def _requests_lost(world: LintWorld, traffic: RouteTraffic, outcome: str) -> Finding:
    remains = world.ref_in_scope(traffic.route)
    subject = traffic.route if remains else None
    why = [failing.message for failing in traffic.failing if failing.message]
    share = f"{len(traffic.failing)} of {traffic.rules} rules fail" if traffic.failing else ""
    clauses = [outcome if remains else f"{traffic.route} is gone", *([share] if share else []), *dict.fromkeys(why[:1])]
    before = _as_before(world, traffic.route, "before").origin
    return Finding(
        subject=subject,
        message=f"{': '.join(clauses)} (hostnames {some(traffic.hostnames)})",
        severity=None if remains else "warning",
        origin=None if remains else before,
        related=tuple(world.related(node.object, f"listener {node.section}") for node in traffic.lost[:MAX_RELATED]),
    )


@lint_rule("GWP9103", "warning", "base")
def policy_left_without_effect(world: LintWorld) -> Iterator[Finding]:
    """A change leaves a policy without the effect that it had before.

    The policy still exists, so its authors expect it to apply. But another policy now overrides it, its target is
    deleted, or nothing is attached to its target any longer. The rule needs `--diff-base`.

    Source: GEP-713, "Conflict Resolution", and its condition reason Overridden.
    """
    for change in world.difference.enforcement if world.difference else ():
        if change.before and change.after and ENFORCEMENT[change.before].in_force:
            meaning = ENFORCEMENT[change.after]
            if not meaning.in_force:
                by = f": {some(change.by)} now overrides it" if change.by else ""
                yield Finding(
                    subject=change.policy,
                    message=f"had an effect before ({change.before}) and no longer has one ({change.after}){by}",
                    certain=meaning.known,
                    related=tuple(world.related(policy, "it overrides the policy") for policy in change.by),
                )


@lint_rule("GWP9104", "error", "base")
def breaks_other_objects(_: LintWorld) -> Iterator[Finding]:
    """A change of one object is the cause of several findings about objects that the change does not touch.

    For example, a renamed listener detaches all routes that name it. The finding is at the changed field, and its
    related objects are those with the findings; its severity is that of the worst of them. If you ignore the rule, each
    finding is reported by itself. The rule needs `--diff-base`.

    Source: this program.
    """
    # Found from the findings of all other rules, in `lint/consequences.py`.
    yield from ()


@lint_rule("GWP9105", "warning", "base", guards=True)
def requests_taken_over(world: LintWorld) -> Iterator[Finding]:
    """After a change, a route gets requests that another route has served before.

    A new route names the hostname of another one with a more specific path, hostname, method or header, or an object
    that had precedence is deleted. If settings that protected the requests are not in force on the other route, the
    finding is an error. Otherwise it is a warning if the routes are in different namespaces, and an info if they are
    not; routes that give up their requests in the same change are not reported. The rule needs `--diff-base`.

    Source: HTTPRouteSpec.Hostnames and HTTPRouteRule.Matches, on the precedence of routes (Gateway API,
    apis/v1/httproute_types.go).
    """
    taken: dict[object, list[Takeover]] = {}
    for takeover in takeovers(world.comparison, world.competition) if world.comparison else ():
        former, route = takeover.former, takeover.match.route
        if takeover.lost or not takeover.is_given_up:
            taken.setdefault((route.ref, former.route.ref, former.rule, takeover.lost), []).append(takeover)
    for several in taken.values():
        yield _taken_over(world, several)


def _taken_over(world: LintWorld, several: Sequence[Takeover]) -> Finding:
    first = several[0]
    former, match, lost = first.former, first.match, first.lost
    what = some(dict.fromkeys(takeover.conditions for takeover in several))
    hostnames = some(sorted({takeover.intake.hostname or "every host" for takeover in several}))
    message = f"gets requests of {former.route.ref}: {what} for {hostnames}"
    is_foreign = former.route.ref.namespace != match.route.ref.namespace
    return Finding(
        subject=match.route.ref,
        field=match.field,
        message=f"{message}, without {some(lost)}" if lost else message,
        severity="error" if lost else "warning" if is_foreign else "info",
        related=(_as_before(world, former.route.ref, "served them before"),),
    )


def _concerns(world: LintWorld, obj: ObjectRef) -> bool:
    """Whether an object is in scope or, if it was deleted, would be."""
    resource = world.index.get(obj) or _before(world, obj)
    return resource is not None and world.in_scope(resource)


def _before(world: LintWorld, obj: ObjectRef) -> Resource | None:
    return world.comparison.before.index.get(obj) if world.comparison else None


def _as_before(world: LintWorld, obj: ObjectRef, label: str) -> Related:
    before = _before(world, obj)
    return Related(object=obj, words=label, origin=before.origin if before else None)
