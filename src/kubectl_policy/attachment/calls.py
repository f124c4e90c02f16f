"""Requests of policies' own: the backends that a policy itself asks, such as an external authorizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.model.fields import each_mapping, text_at
from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile


class Call(Struct, frozen=True, kw_only=True):
    """A reference of a policy to a backend that it sends requests to itself."""

    policy: Annotated[ObjectRef, Meta()]
    field: Annotated[str, Meta(description="Where the policy names the backend.")]
    backend: Annotated[ObjectRef, Meta()]


def calls_of(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[Call]:
    """The backends that a policy asks, by `PolicyKindProfile.backend_fields`, in the order of these."""
    for path in profile.backend_fields:
        for field, reference in each_mapping(index.raw(policy.ref), path):
            if text_at(reference, "name"):
                backend = refer(index, reference, policy.ref.namespace, SERVICE)
                yield Call(policy=policy.ref, field=str(field), backend=backend)
