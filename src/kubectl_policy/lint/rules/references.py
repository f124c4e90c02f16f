"""ReferenceGrants and references to other objects (GWP5005, GWP5006, GWP5014, and GWP5016 to GWP5019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.settings import calls_of
from kubectl_policy.attachment.validity import FAILING_REQUESTS, is_permitted, named_needs, why_not_permitted
from kubectl_policy.lint.finding import Finding, Fix, Related, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource, Severity
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import items_at, text_at, value_at
from kubectl_policy.model.kind_roles import FILTERING_ROUTES, GATEWAY, PARAMETERS, REFERENCE_GRANT, ROUTES
from kubectl_policy.model.kinds import plural, with_article
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.conditions import BACKEND_TLS_POLICY
from kubectl_policy.topology.gateway.certificates import SECRET
from kubectl_policy.topology.references import RouteFilter, parameters_ref

if TYPE_CHECKING:
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.profiles import PolicyKindProfile

# The kind and the namespace of what refers.
_Source: TypeAlias = "tuple[GroupKind, str]"


@lint_rule("GWP5005", "info", "closed world", guards=True)
def refgrant_unused(world: LintWorld) -> Iterator[Finding]:
    """A ReferenceGrant permits references that no object uses.

    No object of the permitted kinds and namespaces refers to the objects that the grant opens. The grant may be left
    over from deleted objects; while it exists, anybody who may create such objects may use it. An object that only
    mentions the name counts as using the grant.

    Source: least privilege; ReferenceGrantSpec (Gateway API, apis/v1/referencegrant_types.go).
    """
    for grant in world.of_kind(REFERENCE_GRANT):
        sources, opened, mentioned = _sources(grant), _opened(grant), _mentioned(world, grant)
        # References may mean routes without naming one.
        used = bool(mentioned) and any(not name or name in mentioned or kind in ROUTES for kind, name in opened)
        if used or not sources or not opened:
            continue
        unread = _unread(world, grant)
        if unread:
            yield world.unknown(grant, "", f"whether anything uses it is not known: {unread}")
        else:
            referrers = some([f"{plural(kind.kind)} of {home}" for kind, home in sources])
            message = f"nothing uses it: no reference from {referrers} leads to what it permits"
            yield Finding(subject=grant.ref, message=message)


@lint_rule("GWP5006", "warning", "closed world", guards=True)
def refgrant_too_broad(world: LintWorld) -> Iterator[Finding]:
    """A ReferenceGrant opens all objects of a kind although only one of them is used.

    Without a `name`, the grant covers every object of the kind in its namespace, including later ones. For Secrets, the
    finding is a warning: anybody who may create Gateways in the other namespace can serve any key pair of this
    namespace.

    Source: ReferenceGrantTo.Name, "When unspecified, this policy refers to all resources of the specified Group and
    Kind in the local namespace" (Gateway API, apis/v1/referencegrant_types.go).
    """
    every = dict[_Source, AbstractSet[str]]()
    for grant in world.of_kind(REFERENCE_GRANT):
        inside, mentioned = grant.ref.namespace, _mentioned(world, grant)
        for position, (kind, name) in enumerate(_opened(grant)):
            if name or kind in ROUTES:
                continue
            names = every.get((kind, inside))
            if names is None:
                names = every[kind, inside] = {ref.name for ref in world.index.world.refs_of(kind, inside)}
            used = names & mentioned
            if len(used) == 1 and len(names) > 1:
                yield _too_broad(world, grant, f"spec.to[{position}].name", ObjectRef(kind, inside, *used), len(names))


def _too_broad(world: LintWorld, grant: Resource, field: str, used: ObjectRef, count: int) -> Finding:
    unread = _unread(world, grant)
    if unread:
        message = f"whether anything but {used} of what it permits is used is not known: {unread}"
        return world.unknown(grant, field, message)
    return Finding(
        subject=grant.ref,
        field=field,
        message=f"it permits references to all {count} {plural(used.kind)} of its namespace; only {used.name} is used",
        severity="warning" if used.group_kind == SECRET else "info",
        related=(world.related(used, "the only one that is used"),),
        fix=Fix(words=f"name {used.name}", value=used.name),
    )


def _sources(grant: Resource) -> list[_Source]:
    every = ((_kind(entry), text_at(entry, "namespace")) for entry in items_at(grant.raw, "spec.from"))
    return list(dict.fromkeys(every))


def _opened(grant: Resource) -> list[tuple[GroupKind, str]]:
    return [(_kind(entry), text_at(entry, "name")) for entry in items_at(grant.raw, "spec.to")]


def _kind(entry: Json) -> GroupKind:
    return GroupKind(text_at(entry, "group"), text_at(entry, "kind"))


def _mentions(world: LintWorld) -> Mapping[tuple[_Source, str], AbstractSet[str]]:
    """Return the strings in the objects that grants admit, by source and mentioned namespace."""
    grants = world.index.of_kind(REFERENCE_GRANT)
    inside = grouped((source, grant.ref.namespace) for grant in grants for source in _sources(grant))
    mentions: dict[tuple[_Source, str], set[str]] = {}
    for source, namespaces in inside.items():
        is_policy = world.registry.profile_of(source[0]) is not None
        for resource in world.index.of_kind_in(*source):
            strings = set(strings_in(value_at(resource.raw, "spec")))
            for namespace in strings.intersection(namespaces):
                mentions.setdefault((source, namespace), set()).update(strings)
            # Policies may select their targets without naming them.
            for attachment in world.analysis.attachments[resource.ref] if is_policy else ():
                target = attachment.target.object if attachment.target else None
                if target and target.namespace in namespaces:
                    mentions.setdefault((source, target.namespace), set()).add(target.name)
    return mentions


def _mentioned(world: LintWorld, grant: Resource) -> AbstractSet[str]:
    """Return the strings in the objects that a grant admits."""
    mentions = world.once(_mentions)
    return {name for source in _sources(grant) for name in mentions.get((source, grant.ref.namespace), ())}


def _unread(world: LintWorld, grant: Resource) -> str:
    """Return why references that use a grant may be missing, or ""."""
    for kind, home in _sources(grant):
        if world.index.presence(ObjectRef(kind, home, "")) == "unknown":
            return f"there may be {plural(kind.kind)} in namespace {home} that were not read"
    names = [grant.ref.namespace, *(name for _, name in _opened(grant))]
    if world.analysis.is_uncertain or any(map(is_unknown, names)):
        return "the input contains placeholders"
    return ""


@lint_rule("GWP5014", "error", "closed world")
def extensionref_not_found(world: LintWorld) -> Iterator[Finding]:
    """A filter of a route names an object that does not exist.

    A filter is never skipped: requests to the rule, or to the backend with the filter, get an error response.

    Source: HTTPRouteFilter, "Requests that would have been processed by that filter MUST receive a HTTP error response"
    (Gateway API, apis/v1/httproute_types.go).
    """
    for route, named in _named_by_filters(world):
        requests = f"requests to {named.backend}" if named.backend else "requests to this rule"
        yield from world.absent(route, named.object, f"{named.field}.name", f"; {requests} get an error response")


def _named_by_filters(world: LintWorld) -> Iterator[tuple[Resource, RouteFilter]]:
    routes = world.of_kind(*FILTERING_ROUTES) if world.relations.kinds_in_filters else ()
    return ((route, named) for route in routes for named in world.relations.filters_of(route.ref))


@lint_rule("GWP5016", "error", "closed world", "profile")
def policy_side_ref_missing(world: LintWorld) -> Iterator[Finding]:
    """A policy refers to a required object that does not exist.

    The object is, for example, a Secret with a key, a ConfigMap, the backend of an external authorizer, or another
    object with settings. The message states the consequence from the profile of the kind: in most cases the whole
    policy is not applied, in some cases requests fail. For kinds without a profile, it is unknown which objects their
    settings refer to. Certificates of BackendTLSPolicies have a rule of their own.

    Source: the needs in the profile of each kind, with their evidence; Kuadrant's reason MissingResource, Envoy
    Gateway's InvalidBackendRef.
    """
    for setting in world.once(_settings):
        if setting.permitted:
            subject, field, harm = _subject(world, setting, "" if setting.is_name else ".name")
            is_missing = world.index.presence(setting.ref) == "missing"
            related = _concerned(world, setting, subject) if is_missing else ()
            yield from world.absent(subject, setting.ref, field, harm, severity=setting.severity, related=related)


@lint_rule("GWP5017", "error", "closed world", "profile")
def policy_side_ref_needs_grant(world: LintWorld) -> Iterator[Finding]:
    """A policy refers to an object in another namespace without a ReferenceGrant that permits it.

    The object counts as missing. The ReferenceGrant belongs into the namespace of the object, and names the kind of the
    policy: a grant for routes does not cover policies.

    Source: ReferenceGrant, "All cross-namespace references in Gateway API ... require a ReferenceGrant" (Gateway API,
    apis/v1/referencegrant_types.go); kgateway-dev/kgateway#11671.
    """
    for setting in world.once(_settings):
        subject, field, harm = _subject(world, setting, "" if setting.is_name else ".namespace")
        if setting.permitted is None:
            message = f"whether {setting.ref} may be referred to is unknown: {world.index.grants.unknown_reason}"
            yield world.unknown(subject, field, message)
        elif not setting.permitted:
            referrer = "it" if subject.ref == setting.owner else str(setting.owner)
            message = why_not_permitted(referrer, setting.ref, same_namespace=setting.same_namespace)
            closed = () if setting.same_namespace else world.closed_grants(setting.ref.namespace)
            yield Finding(
                subject=subject.ref,
                field=field,
                message=f"{message}{harm}",
                reason="RefNotPermitted",
                related=(*_concerned(world, setting, subject), *closed),
                fix=None if setting.same_namespace else world.grant_for(setting.owner, setting.ref),
                severity=setting.severity,
            )


@lint_rule("GWP5018", "error", "closed world")
def parameters_not_found(world: LintWorld) -> Iterator[Finding]:
    """A Gateway or GatewayClass names parameters that do not exist.

    Controllers should not accept such a Gateway, nor such a GatewayClass with all of its Gateways. The parameters of a
    Gateway are in its own namespace.

    Source: GatewayInfrastructure.ParametersRef and GatewayClassSpec.ParametersRef, with the reason InvalidParameters
    (Gateway API, apis/v1/gateway_types.go and gatewayclass_types.go).
    """
    for holder in world.of_kind(*PARAMETERS):
        named = parameters_ref(world.index, holder.ref)
        if named:
            harm = f"; controllers should not accept the {holder.ref.kind} for that"
            yield from world.absent(holder, named.object, f"{named.field}.name", harm, reason="InvalidParameters")


@lint_rule("GWP5019", "warning", "profile")
def filter_attaches_nothing(world: LintWorld) -> Iterator[Finding]:
    """A filter of a route names a policy of a kind that filters do not attach.

    Such policies name their targets themselves. How the controller treats the filter is unknown: it may ignore the
    filter, or answer requests with an error.

    Source: the profile of the kind, with its evidence; HTTPRouteFilter.ExtensionRef (Gateway API,
    apis/v1/httproute_types.go).
    """
    for route, named in _named_by_filters(world):
        profile = world.registry.profile_of(named.object.group_kind)
        known = profile and profile.known_by == "profile" and not profile.filter_routes
        if known and world.index.get(named.object):
            message = f"no filter is known to attach {with_article(named.object.kind)}"
            related = (world.related(named.object),)
            yield Finding(subject=route.ref, field=named.field, message=message, related=related)


class _Setting(Struct, frozen=True, kw_only=True):
    """A reference from the settings of policies to an object that they need; `harm` is the consequence of its absence.

    It is in the `owner`, which is the policy or another needed object, and may be only a name. `permitted` is None if
    unknown.
    """

    policies: tuple[Resource, ...]
    owner: ObjectRef
    field: str
    ref: ObjectRef
    permitted: bool | None
    harm: str
    severity: Severity = "error"
    is_name: bool = False
    same_namespace: bool = False
    backend_policies: frozenset[GroupKind] = frozenset()


def _settings(world: LintWorld) -> Sequence[_Setting]:
    settings: dict[tuple[ObjectRef, str], list[_Setting]] = {}
    for policy in world.attaching:
        profile = world.registry.profile(policy.ref.group_kind)
        if policy.ref.group_kind != BACKEND_TLS_POLICY and (profile.needs or profile.backend_fields):
            for setting in _settings_of(world, policy, profile):
                settings.setdefault((setting.owner, setting.field), []).append(setting)
    return tuple(
        replace(same[0], policies=tuple(policy for setting in same for policy in setting.policies))
        for same in settings.values()
    )


def _settings_of(world: LintWorld, policy: Resource, profile: PolicyKindProfile) -> Iterator[_Setting]:
    """Yield the needs of a policy, then its other backends."""
    index, fields = world.index, set[str]()
    invalid = FAILING_REQUESTS if profile.when_invalid == "errors" else "; without it, the policy is not valid"
    for named in named_needs(index, index.with_defaults(policy), profile.every_need):
        if isinstance(named, NotAttached) or named.guessed or named.need.by == "labels":
            continue
        fields.add(named.field)
        ignored = "" if named.need.when_missing == "unknown" else "; without it, this setting is ignored"
        if named.need.backend_policies:
            kinds = " or ".join(with_article(kind.kind) for kind in sorted(named.need.backend_policies))
            ignored = f"; requests to backends with {kinds} fail"
        yield _Setting(
            policies=(policy,),
            owner=named.owner,
            field=named.field,
            ref=named.ref,
            permitted=is_permitted(index, named),
            harm=ignored if named.tolerated else invalid,
            severity="warning" if named.tolerated else "error",
            is_name=named.need.by == "name",
            same_namespace=named.need.same_namespace,
            backend_policies=named.need.backend_policies,
        )
    for call in calls_of(index, policy, profile):
        if call.field not in fields:
            yield _Setting(
                policies=(policy,),
                owner=policy.ref,
                field=call.field,
                ref=call.backend,
                permitted=index.grants.permit(policy.ref.group_kind, policy.ref.namespace, call.backend),
                harm="; what the policy asks there fails",
            )


def _concerned(world: LintWorld, setting: _Setting, subject: Resource) -> tuple[Related, ...]:
    """Return the policies that need the reference, and the routes that fail without it, as related objects."""
    policies = [policy.ref for policy in setting.policies]
    needing = world.related_to((policy for policy in policies if policy != subject.ref), "needs it")
    using = world.related_to(dict.fromkeys(_routes_using(world, setting)), "requests to its backends fail")
    return (*needing, *world.failing_routes(policies), *using)


def _routes_using(world: LintWorld, setting: _Setting) -> Iterator[ObjectRef]:
    """Yield the routes to backends whose policies make connections use the object, below Gateways of the setting."""
    policies = {policy.ref for policy in setting.policies}
    kind = setting.policies[0].ref.group_kind
    backend_policies = (
        ref for policy_kind in setting.backend_policies for ref in world.index.world.refs_of(policy_kind)
    )
    attachments = (entry for ref in backend_policies for entry in world.analysis.attachments[ref])
    targets = (entry.target for entry in attachments if entry.state == "attached" and entry.target)
    for path in (path for target in targets for path in world.topology.paths_through(target)):
        end = next((position for position, node in enumerate(path, 1) if node.object.group_kind == GATEWAY), 0)
        effective = world.analysis.resolver.effective_of(kind, path[:end]) if end else None
        if effective and not policies.isdisjoint(effective.resolution.policies_in_force):
            yield from (node.object for node in path if node.object.group_kind in ROUTES)


def _subject(world: LintWorld, setting: _Setting, part: str) -> tuple[Resource, str, str]:
    """Return the object in scope in which a reference can be corrected, its field, and the harm.

    `part` is the wrong member of the reference.
    """
    owner = world.index.get(setting.owner)
    if owner and world.in_scope(owner):
        return owner, f"{setting.field}{part}", setting.harm
    return setting.policies[0], "", f" ({setting.field} of {setting.owner}){setting.harm}"
