"""GWP5005 and GWP5006: ReferenceGrants that permit more than anything needs."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import items_at, text_at, value_at
from kubectl_policy.model.grants import REFERENCE_GRANT
from kubectl_policy.model.kinds import plural
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.certificates import SECRET
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Json, Resource

# The kind and the namespace of what refers.
_Source: TypeAlias = "tuple[GroupKind, str]"


@lint_rule("GWP5005", "info", "closed world", guards=True)
def refgrant_unused(world: Linted) -> Iterator[Finding]:
    """A ReferenceGrant permits nothing that is used.

    No object of the kinds and namespaces that it lets in refers to anything that it opens. It may be left of something
    that is gone; as long as it is there, whoever may write such objects may use it. What is only mentioned by an object
    counts as used.

    Source: least privilege; ReferenceGrantSpec (Gateway API, apis/v1/referencegrant_types.go).
    """
    for grant in world.of_kind(REFERENCE_GRANT):
        sources, opened, words = _sources(grant), _opened(grant), _mentioned(world, grant)
        # References may mean routes without naming one.
        used = bool(words) and any(not name or name in words or kind in ROUTES for kind, name in opened)
        if used or not sources or not opened:
            continue
        unread = _unread(world, grant)
        if unread:
            yield world.unknown(grant, "", f"whether anything uses it is not known: {unread}")
        else:
            who = some([f"{plural(kind.kind)} of {home}" for kind, home in sources])
            yield Finding(subject=grant.ref, message=f"nothing uses it: no reference of {who} is to what it opens")


@lint_rule("GWP5006", "warning", "closed world", guards=True)
def refgrant_too_broad(world: Linted) -> Iterator[Finding]:
    """A ReferenceGrant opens all objects of a kind, while a single one of them is used.

    Without a `name` it is about every object of the kind in its namespace, also those that come later. Of Secrets that
    is a warning: who may write Gateways in the other namespace may then serve any key pair of this one.

    Source: ReferenceGrantTo.Name, "When unspecified, this policy refers to all resources of the specified Group and
    Kind in the local namespace" (Gateway API, apis/v1/referencegrant_types.go).
    """
    every = dict[_Source, AbstractSet[str]]()
    for grant in world.of_kind(REFERENCE_GRANT):
        inside, words = grant.ref.namespace, _mentioned(world, grant)
        for position, (kind, name) in enumerate(_opened(grant)):
            if name or kind in ROUTES:
                continue
            there = every.get((kind, inside))
            if there is None:
                there = every[kind, inside] = {each.name for each in world.index.world.names_of(kind, inside)}
            used = there & words
            if len(used) == 1 and len(there) > 1:
                yield _too_broad(world, grant, f"spec.to[{position}].name", ObjectRef(kind, inside, *used), len(there))


def _too_broad(world: Linted, grant: Resource, field: str, used: ObjectRef, count: int) -> Finding:
    unread = _unread(world, grant)
    if unread:
        message = f"whether anything but {used} is used of what it opens is not known: {unread}"
        return world.unknown(grant, field, message)
    return Finding(
        subject=grant.ref,
        field=field,
        message=f"it opens all {count} {plural(used.kind)} of its namespace, of which {used.name} alone is used",
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


def _mentions(world: Linted) -> Mapping[tuple[_Source, str], AbstractSet[str]]:
    """The words in the objects that grants let in, by the namespaces that these mention; every object is read once."""
    inside = grouped(
        (source, grant.ref.namespace) for grant in world.index.of_kind(REFERENCE_GRANT) for source in _sources(grant)
    )
    mentions: dict[tuple[_Source, str], set[str]] = {}
    for source, namespaces in inside.items():
        is_policy = world.registry.profile_of(source[0]) is not None
        for resource in world.index.of_kind_in(*source):
            words = set(strings_in(value_at(resource.raw, "spec")))
            for namespace in words.intersection(namespaces):
                mentions.setdefault((source, namespace), set()).update(words)
            # Policies may select their targets without naming them.
            for attachment in world.analysis.attachments[resource.ref] if is_policy else ():
                target = attachment.target.object if attachment.target else None
                if target and target.namespace in namespaces:
                    mentions.setdefault((source, target.namespace), set()).add(target.name)
    return mentions


def _mentioned(world: Linted, grant: Resource) -> AbstractSet[str]:
    """The words in what a grant lets in, together."""
    mentions = world.once(_mentions)
    return {word for source in _sources(grant) for word in mentions.get((source, grant.ref.namespace), ())}


def _unread(world: Linted, grant: Resource) -> str:
    """Why it is not known what refers to something by way of a grant, in words; empty if it is known."""
    for kind, home in _sources(grant):
        if world.index.presence(ObjectRef(kind, home, "")) == "unknown":
            return f"there may be {plural(kind.kind)} in namespace {home} that were not read"
    names = [grant.ref.namespace, *(name for _, name in _opened(grant))]
    if world.analysis.may_be_otherwise or any(map(is_unknown, names)):
        return "something in the input is to be filled in"
    return ""
