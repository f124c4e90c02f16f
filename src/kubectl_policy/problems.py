"""Diagnostics of one object, collected from its shape, schema, references and attachments."""

from __future__ import annotations

from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.attachment import MEANINGS, Attachment, calls_of, unattached_phrase
from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.validity import named_needs
from kubectl_policy.model import Diagnostic, GroupKind, Json, ObjectRef, Resource, Severity
from kubectl_policy.model.fields import FieldPath, text_at, value_at
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, ROUTES
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.resolution import order_unknown
from kubectl_policy.topology import Path, Topology, shape_problems_of
from kubectl_policy.topology.delegation.flow import circle_phrase
from kubectl_policy.topology.problems import broken_reference, dangling_references
from kubectl_policy.validation import find_schema, find_standard_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.resolution.enforcement import Contention
    from kubectl_policy.validation.admission import VersionSchema
    from kubectl_policy.validation.expressions import Evaluator


# The kinds of the hierarchy whose objects refer to others.
_REFERRING: Final = frozenset({*ABOVE_ROUTES, *ROUTES})


class Problems:
    """Finds the problems of objects, one object at a time."""

    def __init__(
        self,
        topology: Topology,
        registry: Registry,
        attachments: Mapping[ObjectRef, tuple[Attachment, ...]],
        contentions: Callable[[ObjectRef], tuple[Contention, ...]],
        evaluator: Callable[[], Evaluator],
    ) -> None:
        """Keep the sources of problems; `attachments` and `contentions` are by policy."""
        self._topology = topology
        self._registry = registry
        self._attachments = attachments
        self._contentions = contentions
        self._evaluator = evaluator
        self._schemas = cache(partial(find_schema, topology.index))

    def of(self, resource: Resource) -> Iterator[Diagnostic]:
        """Yield wrong shapes, broken or circular references and, of a policy, reasons for which it has no effect."""
        yield from self.of_shape(resource)
        yield from self.of_relations(resource)

    def of_shape(self, resource: Resource) -> Iterator[Diagnostic]:
        """Yield the problems of an object by itself: wrong types, and values that schemas refuse."""
        yield from shape_problems_of(resource)
        schema = self._schema_of(resource)
        if schema:
            yield from self._refused_by(schema, resource)

    def by_gateway_api(self, resource: Resource) -> Iterator[Diagnostic]:
        """Yield what Gateway API's own definition refuses of an object whose kind has none in the input."""
        schema = find_standard_schema(self._topology.index, resource)
        if schema:
            yield from self._refused_by(schema, resource)

    def _refused_by(self, schema: VersionSchema, resource: Resource) -> Iterator[Diagnostic]:
        for problem in schema.diagnostics(resource, self._topology.index.defaulted(resource.ref), self._evaluator()):
            text = FieldPath.parse(problem.field).get(resource.raw)
            # A placeholder may become what it has to be.
            if not (isinstance(text, str) and is_unfilled(text)):
                yield problem

    def dropped(self, resource: Resource) -> tuple[FieldPath, ...]:
        """Return the fields of an object that an API server would drop, as its definition does not know them."""
        schema = self._schema_of(resource)
        return schema.dropped(resource.raw) if schema else ()

    def _schema_of(self, resource: Resource) -> VersionSchema | None:
        return self._schemas(resource.ref.group_kind, text_at(resource.raw, "apiVersion").rpartition("/")[2])

    def has_relations(self, kind: GroupKind) -> bool:
        """Whether objects of a kind can have problems that involve other objects."""
        return kind in _REFERRING or self._registry.profile_of(kind) is not None

    def of_relations(self, resource: Resource) -> Iterator[Diagnostic]:
        """Yield the problems of an object that involve other objects."""
        kind = resource.ref.group_kind
        if kind in _REFERRING:
            yield from dangling_references(self._topology.relations, resource)
            if self._cycles and kind in ROUTES:
                yield from self._circles(resource)
            if self._topology.relations.filters_of(resource.ref):
                yield from self._filters_that_attach_nothing(resource)
        profile = self._registry.profile_of(kind)
        if profile:
            yield from self._of_policy(resource, profile)

    def _of_policy(self, policy: Resource, profile: PolicyKindProfile) -> Iterator[Diagnostic]:
        attachments = self._attachments[policy.ref]
        if not attachments and profile.references_alone:
            message = f"{policy.ref} {unattached_phrase(profile)}, so it has no effect"
            yield Diagnostic(
                rule="no-target", severity="warning", message=message, subject=policy.ref, origin=policy.origin
            )
        for attachment in attachments:
            if attachment.state != "attached" or attachment.virtual:
                yield self._outcome(policy, attachment)
        yield from self._broken_calls(policy, profile)
        if profile.target_status:
            yield from self._without_status(policy, profile.target_status)
        yield from self._contended(policy)

    def _broken_calls(self, policy: Resource, profile: PolicyKindProfile) -> Iterator[Diagnostic]:
        """Yield broken references to backends to which the policy itself sends requests."""
        index = self._topology.index
        calls = list(calls_of(index, policy, profile))
        if not calls:
            return
        named = named_needs(index, index.with_defaults(policy), profile.every_need)
        needed = [need for need in named if not isinstance(need, NotAttached)]
        # Attachments fail, and say so, if a required object is missing.
        fatal = {need.field for need in needed if not need.tolerated}
        settings = {need.field: need.setting for need in needed if need.setting}
        for call in (call for call in calls if call.field not in fatal):
            problem = self._topology.gateways.reference_problem(policy.ref, call.backend, "")
            if problem and problem.certain:
                setting = settings.get(call.field)
                harm = f"; controllers ignore {setting} without it" if setting else ""
                message = f"{problem.message}{harm}"
                broken = broken_reference(policy, call.field, call.backend, message, problem.reason)
                yield replace(broken, severity="warning") if setting else broken

    def _outcome(self, policy: Resource, attachment: Attachment) -> Diagnostic:
        """Report a failed or uncertain attachment at its reference."""
        declared, meaning = attachment.declared, MEANINGS[attachment.state]
        holder_phrase = f" of {declared.named_by}" if declared.named_by else ""
        location = f"{declared.field}{holder_phrase}: " if declared.field else ""
        holder = self._topology.index.get(declared.named_by) if declared.named_by else policy
        return Diagnostic(
            rule=meaning.rule,
            severity=meaning.severity,
            message=f"{attachment.policy}: {location}{attachment.message}",
            subject=attachment.policy,
            field=declared.field,
            origin=holder.origin if holder else None,
            related=(attachment.target.object,) if attachment.target else (),
            reason=meaning.api_reason,
        )

    def _circles(self, route: Resource) -> Iterator[Diagnostic]:
        for cycle in self._cycles:
            routes = tuple(dict.fromkeys(node.object for node in cycle))
            if route.ref in routes:
                message = f"a request would loop: {circle_phrase(routes)}"
                yield route.diagnostic("cycle", "error", message, related=routes)

    def _filters_that_attach_nothing(self, route: Resource) -> Iterator[Diagnostic]:
        """Report filters that name a policy of a kind that, by its profile, is not attached by filters."""
        for named in self._topology.relations.filters_of(route.ref):
            profile = self._registry.profile_of(named.object.group_kind)
            is_unsupported = profile and profile.known_by == "profile" and not profile.filter_routes
            if is_unsupported and self._topology.index.get(named.object):
                message = f"{named.field}: no filter is known to attach {with_article(named.object.kind)}"
                yield route.diagnostic("filter-unsupported", "warning", message, named.field, (named.object,))

    @cached_property
    def _cycles(self) -> tuple[Path, ...]:
        return self._topology.cycles()

    def _without_status(self, policy: Resource, field: str) -> Iterator[Diagnostic]:
        """Report targets whose status lacks a field without which the policy has no effect."""
        for attachment in self._attachments[policy.ref]:
            target = attachment.target if attachment.state == "attached" else None
            raw: Mapping[str, Json] = self._topology.index.defaulted(target.object) if target else {}
            if target and not value_at(raw, field):
                # Manifests seldom have a status; then that of the object in the cluster is unknown.
                is_known = "status" in raw
                lacking = (
                    f"has no {field}" if is_known else f"was read without its status: whether it has {field} is unknown"
                )
                message = f"{target.object} {lacking}; without that the policy does nothing"
                severity: Severity = "warning" if is_known else "info"
                yield policy.diagnostic("target-status-missing", severity, message, field, (target.object,))

    def _contended(self, policy: Resource) -> Iterator[Diagnostic]:
        profile = self._registry.profile(policy.ref.group_kind)
        for contention in self._contentions(policy.ref):
            holder = self._topology.index.get(contention.holder)
            undated = holder and order_unknown((holder, policy), profile)
            guess = ", by name because creationTimestamp is missing" if undated else ""
            by = "" if contention.holder == policy.ref else f", for which {contention.holder} came first{guess}"
            shared = f"uses {contention.entry} like {contention.rival_section}{by}; each needs its own"
            related = (contention.section.object, contention.rival_section.object)
            yield policy.diagnostic("target-contended", "error", f"{contention.section} {shared}", related=related)
