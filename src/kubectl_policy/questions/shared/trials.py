"""Trials of other names for broken references: only names that work, as far as is known, are suggested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.attachment.references import FollowedReference
from kubectl_policy.model import NodeRef
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.topology.backends import backends_of
from kubectl_policy.validation.schema import SchemaCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment.attachment import TargetReference
    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.references import BackendRef, ParentRef
    from kubectl_policy.validation.expressions import Evaluator

# Names are not compared if there are more candidates.
_MAX_CANDIDATES: Final = 5_000
# The number of names that are compared in one state.
_MAX_COMPARISONS: Final = 100_000
# The number of candidates that are tried.
_MAX_TRIED: Final = 3
_FEW_LETTERS: Final = (2, 3, 4)
# The states of attachments that hold, as far as is known.
_WORKING: Final = frozenset({"attached", "target unknown"})
_ENCRYPTED: Final = frozenset({"HTTPS", "TLS"})
# Names of listeners that promise encryption.
_PROMISES_ENCRYPTION: Final = re.compile(r"https|tls|ssl|secure|443", re.IGNORECASE)


def near_names(name: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates that are like a name, the nearest first; none if there are too many to compare."""
    known = sorted({candidate for candidate in candidates if candidate != name})
    if not known or len(known) > _MAX_CANDIDATES:
        return []
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    # In a short word, two swapped letters are a large part.
    cutoff = 0.6 if len(name) in _FEW_LETTERS else 0.75
    return difflib.get_close_matches(name, known, n=_MAX_TRIED, cutoff=cutoff)


def near_field(name: str, holder: Mapping[str, Json], schemas: Mapping[str, Json], evaluator: Evaluator) -> str:
    """Return the known field that a misspelt one of a mapping may mean, or "".

    It is not set, and its schema takes the value.
    """
    check, near = SchemaCheck(evaluator), near_names(name, schemas)
    fits = (
        field
        for field in near
        if field not in holder
        and isinstance(schema := schemas[field], dict)
        and not check.problems(holder[name], schema)
    )
    return next(fits, "")


class Trials:
    """Trials in one state; a state `before` a change tells what a name that is gone stood for."""

    def __init__(self, analysis: Analysis, before: Analysis | None = None) -> None:
        """Keep the states."""
        self._analysis, self._before, self._remaining = analysis, before, _MAX_COMPARISONS
        self._relations, self._index = analysis.topology.relations, analysis.index

    def listener(self, route: ObjectRef, parent: ParentRef) -> str:
        """Return the section to which a route attaches if a parentRef names that one instead, or ""."""
        sections = self._sections_like(NodeRef(parent.object, parent.section))
        return next((name for name in sections if self._attaches(route, replace(parent, section=name))), "")

    def parent(self, route: ObjectRef, parent: ParentRef) -> str:
        """Return the name of an object to which a route attaches if a parentRef names that one instead, or ""."""
        return self.name_of(parent.object, lambda ref: self._attaches(route, replace(parent, object=ref)))

    def backend(self, route: ObjectRef, backend: BackendRef) -> str:
        """Return the name of a backend to which a route leads if a reference names that one instead, or ""."""
        relations = self._relations

        def resolves(ref: ObjectRef) -> bool:
            meant = (replace(backend, object=ref),)
            resolved = backends_of(relations.gateways, relations.delegations, route, meant, relations.ports)
            return all(backend.state != "broken" for backend in resolved)

        return self.name_of(backend.object, resolves)

    def target(self, policy: Resource, declared: TargetReference, target: ObjectRef) -> str:
        """Return the name of a target to which a policy attaches if a reference names that one instead, or ""."""
        return self.name_of(target, lambda ref: self.works(policy, replace(declared, name=ref.name)))

    def section(self, policy: Resource, declared: TargetReference, target: ObjectRef) -> str:
        """Return the section to which a policy attaches if a reference names that one instead, or ""."""
        sections = self._sections_like(NodeRef(target, declared.section))
        return next((name for name in sections if self.works(policy, replace(declared, section=name))), "")

    def referred(self, owner: ObjectRef, ref: ObjectRef) -> str:
        """Return the name of an object to which another one may refer instead, or ""."""
        problem = self._analysis.topology.gateways.reference_problem
        return self.name_of(ref, lambda candidate: problem(owner, candidate, "") is None)

    def name_of(self, ref: ObjectRef, works: Callable[[ObjectRef], bool]) -> str:
        """Return the nearest name of an object of the same kind and namespace that works, or "".

        If the object may exist, its name must be a slip of the pen.
        """
        near: Iterable[ObjectRef] = ()
        if self._index.presence(ref) == "unknown":
            near = self._index.absence.meant(ref)
        elif self._remaining > 0:
            siblings = self._index.world.refs_of(ref.group_kind, ref.namespace)
            self._remaining -= len(siblings)
            near = (replace(ref, name=name) for name in near_names(ref.name, (sibling.name for sibling in siblings)))
        return next((candidate.name for candidate in near if works(candidate)), "")

    def _attaches(self, route: ObjectRef, parent: ParentRef) -> bool:
        return any(binding.state != "refused" for binding in self._relations.follow(route, parent))

    def works(self, policy: Resource, declared: TargetReference) -> bool:
        """Whether a policy attaches by a reference."""
        analysis = self._analysis
        profile = analysis.registry.profile(policy.ref.group_kind)
        followed = FollowedReference(policy, profile, analysis.topology, declared)
        return any(attachment.state in _WORKING for attachment in followed.attachments())

    def _sections_like(self, missing: NodeRef) -> Iterator[str]:
        """Yield sections that may stand for a missing one: renamed ones first, then those of a similar name.

        What was to be encrypted is not sent in the clear, be the name as near as it may.
        """
        names = [name for name in self._relations.sections(missing.object) if not is_unnamed(name)]
        former = self._before.topology.gateways.listener(missing) if self._before else None
        listeners = {name: self._analysis.topology.gateways.listener(replace(missing, section=name)) for name in names}
        renamed = [name for name, listener in listeners.items() if former and listener and _same(former, listener)]
        encrypts = former.protocol in _ENCRYPTED if former else bool(_PROMISES_ENCRYPTION.search(missing.section))
        for name in dict.fromkeys((*renamed, *near_names(missing.section, names))):
            listener = listeners[name]
            if not (encrypts and listener and listener.protocol not in _ENCRYPTED):
                yield name


def _same(former: Listener, listener: Listener) -> bool:
    """Whether two listeners of different names get the same requests."""
    return (former.protocol, former.port, former.hostname) == (listener.protocol, listener.port, listener.hostname)
