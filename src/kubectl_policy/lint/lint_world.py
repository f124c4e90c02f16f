"""The input of rules: objects in scope (as they were written; see `Index.defaulted`), and facts, computed once."""

from __future__ import annotations

from functools import cached_property
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace

from kubectl_policy.lint.competition import Competition
from kubectl_policy.lint.finding import MAX_RELATED, Finding, Fix, Related
from kubectl_policy.lint.losses import Losses
from kubectl_policy.lint.refusals import ParentRefusal, refusals
from kubectl_policy.lint.reported_status import Reported
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource, Severity
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, REFERENCE_GRANT, ROUTES
from kubectl_policy.model.kinds import plural
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.shared.failing_routes import failing_routes
from kubectl_policy.questions.shared.trials import Trials, near_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.model.snapshot import Comment
    from kubectl_policy.questions.shared.failing_routes import FailingRoute
    from kubectl_policy.resolution import Resolution, Source
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.topology import Binding
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.gateway.listeners import Listener

_Value = TypeVar("_Value")
# The number of related objects that are listed.
_MAX_LISTED: Final = 10
# A name has 253 characters at most.
_MAX_STEM_LENGTH: Final = 240


class LintWorld:
    """A world in which some objects are linted; the others provide context.

    Rules ask it for the objects in scope, and the analysis for everything else.
    """

    def __init__(  # noqa: PLR0913, PLR0917 (a world, and what it is linted with)
        self,
        analysis: Analysis,
        settings: LintSettings,
        in_scope: Callable[[Resource], bool],
        comparison: StateComparison | None = None,
        comments_of: Callable[[str], Iterable[Comment]] = lambda _: (),
        name: str = "",
    ) -> None:
        """Keep the analysis, the settings and the scope; a `comparison` is one with the state before a change.

        `comments_of` returns the comments for this program in a file; `name` distinguishes several worlds.
        """
        self.analysis = analysis
        self.settings = settings
        self.in_scope = in_scope
        self.comparison = comparison
        self.comments_of = comments_of
        self.name = name
        self.snapshot = analysis.snapshot
        self.index = analysis.index
        self.registry = analysis.registry
        self.topology = analysis.topology
        self.relations = analysis.topology.relations
        self.gateways = analysis.topology.gateways
        self._facts: dict[Callable[..., Any], Any] = {}

    def once(self, function: Callable[[LintWorld], _Value]) -> _Value:
        """Return the result of a function of the world, computed on the first call."""
        if function not in self._facts:
            self._facts[function] = function(self)
        fact: _Value = self._facts[function]
        return fact

    def of_kind(self, *kinds: GroupKind) -> list[Resource]:
        """Return the objects of some kinds, in the order of these, and sorted by namespace and name."""
        return [resource for kind in kinds for resource in self.index.of_kind(kind) if self.in_scope(resource)]

    def ref_in_scope(self, ref: ObjectRef) -> bool:
        """Whether an object exists and is in scope."""
        resource = self.index.get(ref)
        return resource is not None and self.in_scope(resource)

    def has_all(self, *kinds: GroupKind) -> bool:
        """Whether all objects of some kinds were read."""
        gaps = self.snapshot.gaps
        return self.snapshot.complete and not any(
            gap.kind in {"", kind.kind} and gap.group in {None, kind.group} for gap in gaps for kind in kinds
        )

    @cached_property
    def difference(self) -> StateDiff | None:
        """The differences between the state before a change and this one, or None without a comparison."""
        return diff(self.comparison) if self.comparison else None

    @cached_property
    def resources(self) -> Sequence[Resource]:
        """The objects in scope, by kind, namespace and name."""
        return self.of_kind(*self.index.group_kinds)

    @cached_property
    def routes(self) -> Sequence[Resource]:
        """The routes in scope."""
        return self.of_kind(*ROUTES)

    @cached_property
    def policies(self) -> Sequence[Resource]:
        """All policies in scope, sorted, without filters and parameters."""
        return [policy for policy in self.analysis.policies if self.in_scope(policy)]

    @cached_property
    def enforcements(self) -> Sequence[tuple[Resource, Enforcement]]:
        """Every policy, in scope or not, with its enforcement."""
        return [(policy, self.analysis.enforcement(policy.ref)) for policy in self.analysis.policies]

    @cached_property
    def losses(self) -> Sequence[Losses]:
        """The losses of every policy that is not fully enforced."""
        known = self.registry.profile
        positions: dict[Resolution, Mapping[Source, int]] = {}
        return [
            Losses(policy, known(policy.ref.group_kind), enforcement, positions)
            for policy, enforcement in self.enforcements
            if enforcement.state in {"PartiallyEnforced", "Overridden", "Conflicted"}
        ]

    @cached_property
    def attaching(self) -> Sequence[Resource]:
        """All objects in scope that attach to others: policies, filters and parameters."""
        return self.of_kind(*(profile.group_kind for profile in self.registry.policy_kinds))

    @cached_property
    def attachments(self) -> Sequence[tuple[Resource, Attachment]]:
        """The attachments of all attaching objects, in order, including those that fail."""
        every = self.analysis.attachments
        return [(policy, attachment) for policy in self.attaching for attachment in every[policy.ref]]

    @cached_property
    def failed_attachments(self) -> Sequence[tuple[Resource, Attachment]]:
        """The attachments that fail, or may fail."""
        return [(policy, attachment) for policy, attachment in self.attachments if attachment.state != "attached"]

    @cached_property
    def failed_bindings(self) -> Sequence[tuple[Resource, Binding]]:
        """The bindings of routes to listeners that are refused or unknown."""
        bindings = self.relations.bindings
        return [
            (route, binding) for route in self.routes for binding in bindings(route.ref) if binding.state != "attached"
        ]

    @cached_property
    def refusals(self) -> Sequence[ParentRefusal]:
        """The parentRefs that attach a route to nothing, or may not, each with the nearest miss."""
        return tuple(refusals(self.analysis, dict.fromkeys(route for route, _ in self.failed_bindings)))

    @cached_property
    def failed_backends(self) -> Sequence[tuple[Resource, Backend]]:
        """The backendRefs that are broken, or may be."""
        backends = self.relations.backends
        return [
            (route, backend) for route in self.routes for backend in backends(route.ref) if backend.state != "resolved"
        ]

    @cached_property
    def listener_holders(self) -> Sequence[Resource]:
        """The Gateways and ListenerSets in scope."""
        return self.of_kind(*LISTENER_HOLDERS)

    @cached_property
    def listeners(self) -> Sequence[tuple[Resource, Listener]]:
        """Each listener with its Gateway or ListenerSet."""
        return [(owner, listener) for owner in self.listener_holders for listener in self.gateways.listeners(owner.ref)]

    @cached_property
    def competition(self) -> Competition:
        """The competition of routes for requests."""
        return Competition(self.analysis)

    @cached_property
    def reported(self) -> Reported:
        """The reports of controllers."""
        return Reported(self.analysis, self.settings, self.of_kind)

    def related(self, obj: ObjectRef, label: str = "", field: str = "") -> Related:
        """Return a related object with its origin."""
        resource = self.index.get(obj)
        return Related(object=obj, words=label, field=field, origin=resource.origin if resource else None)

    def related_to(self, objects: Iterable[ObjectRef], label: str) -> tuple[Related, ...]:
        """Return the first related objects with one label for all."""
        return tuple(self.related(obj, label) for obj in islice(objects, _MAX_LISTED))

    def failing_routes(self, policies: Iterable[ObjectRef]) -> tuple[Related, ...]:
        """Return the routes whose requests get an error response because policies are invalid, as related objects."""
        failing = (failure.route for policy in policies for failure in self._failing_routes.get(policy, ()))
        return self.related_to(dict.fromkeys(failing), "requests to it get an error response")

    def routes_to_targets(self, policy: ObjectRef) -> tuple[Related, ...]:
        """Return the routes that send requests to the backends that a policy is for, as related objects."""
        attachments = self.analysis.attachments[policy]
        targets = (entry.target for entry in attachments if entry.state == "attached" or entry.fails_requests)
        routes = (
            route
            for target in filter(None, targets)
            for route in self.relations.routes_forwarding_to(target.object)
            if any(target.includes(node) for backend in self.relations.backends(route) for node in backend.nodes)
        )
        return self.related_to(dict.fromkeys(routes), "it sends requests there")

    @cached_property
    def _failing_routes(self) -> Mapping[ObjectRef, Sequence[FailingRoute]]:
        return grouped((failure.policy, failure) for failure in failing_routes(self.analysis))

    def routes_refused_at(self, node: NodeRef) -> tuple[Related, ...]:
        """Return routes that a Gateway or listener refuses, because its controller ignores it as invalid."""
        ignored = self.relations.why_ignored(node)
        refused = (
            route
            for route in (self.relations.routes_naming(node.object) if ignored else ())
            for binding in self.relations.bindings_at(route, node if node.section else node.object)
            if ignored and binding.state == "refused" and binding.reason == ignored.reason
        )
        return self.related_to(dict.fromkeys(refused), "not attached there")

    def is_served(self, listener: Listener) -> bool:
        """Whether a listener is known to be on a Gateway in the input and to have no conflict."""
        gateway, owner = listener.gateway, listener.node.object
        if gateway is None or self.index.get(gateway) is None:
            return False
        return (owner == gateway or owner in self.gateways.admitted(gateway)) and not self.gateways.conflict(listener)

    def related_listener(self, node: NodeRef, label: str) -> Related:
        """Return a listener as a related object."""
        listener = self.gateways.listener(node)
        return self.related(node.object, label, listener.field if listener else "")

    def grant_for(self, source: ObjectRef, target: ObjectRef) -> Fix:
        """Return a ReferenceGrant that permits exactly the reference from one object to the other.

        A target without a name stands for every object of its kind and namespace.
        """
        grants = self.index.of_kind(REFERENCE_GRANT)
        version = text_at(grants[0].raw, "apiVersion") if grants else f"{REFERENCE_GRANT.group}/v1beta1"
        opened = target.name or plural(target.kind.lower())
        stem = f"{opened}-for-{plural(source.kind.lower())}-of-{source.namespace}"[:_MAX_STEM_LENGTH].rstrip("-.")
        names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        name = next(name for name in names if not self.index.get(ObjectRef(REFERENCE_GRANT, target.namespace, name)))
        referring, referred = ({"group": ref.group_kind.group, "kind": ref.kind} for ref in (source, target))
        manifest: dict[str, Json] = {
            "apiVersion": version,
            "kind": REFERENCE_GRANT.kind,
            "metadata": {"name": name, "namespace": target.namespace},
            "spec": {
                "from": [{**referring, "namespace": source.namespace}],
                "to": [{**referred, **({"name": target.name} if target.name else {})}],
            },
        }
        return Fix(words=f"add ReferenceGrant {target.namespace}/{name}", manifest=manifest)

    def closed_grants(self, namespace: str) -> tuple[Related, ...]:
        """Return the ReferenceGrants of a namespace as objects that do not permit a reference."""
        grants = self.index.of_kind_in(REFERENCE_GRANT, namespace)[:MAX_RELATED]
        return tuple(self.related(grant.ref, "does not let it in") for grant in grants)

    def absent(  # noqa: PLR0913 (what findings have)
        self,
        subject: Resource,
        to: ObjectRef,
        field: str,
        harm: str = "",
        *,
        reason: str = "",
        severity: Severity | None = None,
        name: Callable[[], str] | None = None,
        related: tuple[Related, ...] = (),
    ) -> Iterator[Finding]:
        """Yield a finding if a referenced object does not exist, or may not exist.

        `name` tries other names; by default, any object to which the subject may refer will do.
        """
        presence = self.index.presence(to)
        if presence == "missing":
            yield Finding(
                subject=subject.ref,
                field=field,
                message=f"{to} does not exist{harm}",
                reason=reason,
                fix=self.meant(to, name() if name else self.trials.referred(subject.ref, to)),
                related=related,
                severity=severity,
            )
        elif presence == "unknown":
            tried = name() if name else self.trials.referred(subject.ref, to)
            yield self.unknown(subject, field, self.index.absence.message(to), name=tried)

    def unknown(
        self, subject: Resource, field: str, message: str, severity: Severity | None = None, *, name: str = ""
    ) -> Finding:
        """Return a finding that is not certain, with the severity of its rule unless another one is given.

        It counts, as a warning, if it is about a slip of the pen and a `name` works.
        """
        doubt = Finding(subject=subject.ref, field=field, message=message, certain=False, severity=severity)
        return replace(doubt, is_likely=True, severity="warning", fix=did_you_mean(name)) if name else doubt

    @cached_property
    def trials(self) -> Trials:
        """Trials of other names in references."""
        return Trials(self.analysis, self.comparison.before if self.comparison else None)

    def meant(self, ref: ObjectRef, name: str) -> Fix | None:
        """Return a tried name, or else an object with the same name in another namespace, as a fix if there is one."""
        elsewhere = (known for known in self.index.world.refs_of(ref.group_kind) if known.name == ref.name)
        return did_you_mean(name) or next((Fix(words=f"there is {known}") for known in elsewhere), None)


def did_you_mean(name: str) -> Fix | None:
    """Return a tried name as a fix, or None for ""."""
    return Fix(words=f"did you mean {name}?", value=name) if name else None


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the candidate that is most like a name, or "" if none is close or there are too many."""
    return next(iter(near_names(name, candidates)), "")
