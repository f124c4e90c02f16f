"""Differences between states: those of the bakery, small ones made by hand, and one that is hostile throughout."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import Diagnostic, NodeRef
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.questions.blast_radius import BlastRadius, blast_radius
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.diff import ProblemChanges, StateDiff
from kubectl_policy.questions.differences.effects import ChangedObject, EffectChange, EffectiveValue, FieldChange
from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
from kubectl_policy.resolution import Source
from kubectl_policy.sources.manifests import load_manifests
from tests import build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.differences.effects import Where

BAKERY: Final = Path(__file__).parents[3] / "fixtures" / "bakery"
POLICY: Final = build.ref("ColorPolicy", "p", group="example.com")
OTHER: Final = build.ref("ColorPolicy", "q", group="example.com")
ROUTE: Final = build.node("HTTPRoute", "r")
NOTHING: Final = ProblemChanges(introduced=(), fixed=(), unchanged=())
GAP: Final = BlindSpot(what="file bad.yaml", reason="broken", remedy="fix it")
LOOKED_AT: Final = {
    *("Gateway", "GatewayClass", "HTTPRoute", "GRPCRoute", "Service", "Namespace", "ReferenceGrant"),
    "CustomResourceDefinition",
}


@cache
def bakery() -> Analysis:
    """The bakery, read once, as listed by a cluster."""
    return analyze(build.listed(load_manifests([BAKERY])))


@cache
def without(name: str) -> BlastRadius:
    """What deleting an object of the bakery would change, by its kind and name as texts have them."""
    (ref,) = (resource.ref for resource in bakery().snapshot.resources if str(resource.ref) == name)
    return blast_radius(bakery(), ref, "team")


def everything() -> list[str]:
    """Every object of the bakery that somebody might ask about."""
    refs = {resource.ref for resource in bakery().snapshot.resources if resource.ref.kind in LOOKED_AT}
    return [str(ref) for ref in sorted({*refs, *bakery().attachments})]


def difference(**parts: Any) -> StateDiff:  # noqa: ANN401 (the parts of a difference, by their names)
    """A difference with nothing but the given parts."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("created", "deleted", "updated", "effects", "attachments", "parents", "enforcement", "unseen"), ()
    )
    every: dict[str, Any] = {**nothing, "problems": NOTHING, **parts}
    return StateDiff(**every)


def valued(value: Any, policy: ObjectRef = POLICY, target: NodeRef = ROUTE) -> EffectiveValue:  # noqa: ANN401 (any value)
    return EffectiveValue(value, Source(policy, target), removed=False)


def field(before: Any, after: Any, name: str = "color", *, security: bool = False) -> FieldChange:  # noqa: ANN401
    """A field of which the value differs; None where nothing sets it, a string otherwise."""
    before, after = (None if value is None else valued(value) for value in (before, after))
    return FieldChange(name, before, after, security=security)


def change(
    *fields: FieldChange,
    nodes: Sequence[NodeRef] = (ROUTE,),
    where: Where = "kept",
    to_nothing: bool = False,
    from_nothing: bool = False,
) -> EffectChange:
    """A change of some fields, on a path of its own for each node."""
    paths = tuple((node,) for node in nodes)
    objects = tuple(ChangedObject(node, (index,)) for index, node in enumerate(nodes))
    return EffectChange(
        profile=PolicyKindProfile(POLICY.group_kind, "inherited", "profile"),
        fields=fields,
        where=where,
        from_nothing=from_nothing,
        to_nothing=to_nothing,
        paths=paths,
        objects=objects,
        assumed=(),
        doubts=(),
    )


def routes(number: int, namespace: str = "default") -> list[NodeRef]:
    return [build.node("HTTPRoute", f"r{index}", namespace=namespace) for index in range(number)]


def hostile(text: str) -> StateDiff:
    """A difference in which every text that comes from the input is the given one."""
    kind = GroupKind(text, text)
    ref = ObjectRef(kind, text, text)
    node = NodeRef(ref, text)
    values = valued({text: [text]}, ref, node), valued(text, ref, node)
    effect = replace(
        change(FieldChange(text, *values, security=True), nodes=[node], to_nothing=True),
        profile=PolicyKindProfile(kind, "inherited", "shape"),
    )
    return difference(
        created=(ref,),
        effects=(effect,),
        attachments=(
            AttachmentChange(policy=ref, target=node, before="attached", after="target missing", message=text),
        ),
        parents=(ParentChange(route=ref, parent=node, before="attached", after="refused", message=text),),
        enforcement=(EnforcementChange(policy=ref, before="Enforced", after="Conflicted", by=(ref,)),),
        problems=ProblemChanges(
            introduced=(Diagnostic("rule", "error", text, ref, text),),
            fixed=(Diagnostic("rule", "error", text, None, text),),
            unchanged=(),
        ),
        unseen=(BlindSpot(what=text, reason=text, remedy=text),),
    )
