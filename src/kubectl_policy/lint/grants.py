"""ReferenceGrants that would let a reference into another namespace, as fixes."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Fix
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.grants import REFERENCE_GRANT
from kubectl_policy.model.kinds import plural

if TYPE_CHECKING:
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import GroupKind, Json

# A name has 253 characters at most.
_LONGEST_STEM: Final = 240


def grant_for(world: Linted, source: ObjectRef, target: ObjectRef) -> Fix:
    """A ReferenceGrant that lets objects of the kind and namespace of one refer to the other, and to nothing else.

    A target without a name is every object of its kind and namespace.
    """
    every = world.index.of_kind(REFERENCE_GRANT)
    version = text_at(every[0].raw, "apiVersion") if every else f"{REFERENCE_GRANT.group}/v1beta1"
    opened = target.name or plural(target.kind.lower())
    stem = f"{opened}-for-{plural(source.kind.lower())}-of-{source.namespace}"[:_LONGEST_STEM].rstrip("-.")
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    name = next(each for each in names if not world.index.get(ObjectRef(REFERENCE_GRANT, target.namespace, each)))
    manifest: dict[str, Json] = {
        "apiVersion": version,
        "kind": REFERENCE_GRANT.kind,
        "metadata": {"name": name, "namespace": target.namespace},
        "spec": {
            "from": [{**_kind(source.group_kind), "namespace": source.namespace}],
            "to": [{**_kind(target.group_kind), **({"name": target.name} if target.name else {})}],
        },
    }
    return Fix(words=f"add ReferenceGrant {target.namespace}/{name}", manifest=manifest)


def _kind(kind: GroupKind) -> dict[str, Json]:
    return {"group": kind.group, "kind": kind.kind}
