"""References to certificates: whether they are allowed, and whether what they find looks like a certificate."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import items_at, mapping_at, text_at, value_at
from kubectl_policy.topology.grants import permitted, unseen
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.gateway.listeners import Listener

SECRET: Final = GroupKind("", "Secret")
CONFIG_MAP: Final = GroupKind("", "ConfigMap")
# A Secret with a CA certificate is implementation-specific support in the API, so it is no mistake.
CA_KINDS: Final = (CONFIG_MAP, SECRET)

_PEM: Final = "-----BEGIN CERTIFICATE-----"


class Fault(NamedTuple):
    """What is wrong with a reference; "unknown" if that cannot be told."""

    sort: Literal["kind", "grant", "invalid", "unknown"]
    message: str


def certificate_fault(index: Index, owner: ObjectRef, target: ObjectRef) -> Fault | None:
    """What is wrong with a reference to a key pair; None if nothing is.

    "A CertificateRef is considered invalid when it refers to a nonexistent or unsupported resource or kind, or when the
    data within that resource is malformed" (ListenerReasonInvalidCertificateRef).
    """
    return _fault(index, owner, target, (SECRET,), ("tls.crt", "tls.key"))


def authority_fault(index: Index, owner: ObjectRef, target: ObjectRef) -> Fault | None:
    """What is wrong with a reference to CA certificates, under the key `ca.crt`; None if nothing is."""
    return _fault(index, owner, target, CA_KINDS, ("ca.crt",))


def listener_certificates(index: Index, listener: Listener) -> Iterator[tuple[str, ObjectRef, Fault | None]]:
    """Each certificateRef of a listener that terminates TLS: where it stands, what it names, what is wrong with it."""
    if listener.protocol not in {"HTTPS", "TLS"} or not listener.terminates:
        return
    owner = listener.node.object
    for position, reference in enumerate(items_at(listener.raw, "tls.certificateRefs")):
        if isinstance(reference, Mapping):
            target = refer(index, reference, owner.namespace, SECRET)
            field = f"{listener.field}.tls.certificateRefs[{position}]"
            yield field, target, certificate_fault(index, owner, target)


def _fault(
    index: Index, owner: ObjectRef, target: ObjectRef, kinds: Sequence[GroupKind], keys: Sequence[str]
) -> Fault | None:
    if target.group_kind not in kinds:
        return Fault("kind", f"a {target.group_kind} cannot hold a certificate; {' or '.join(map(str, kinds))} can")
    if not permitted(index, owner.group_kind, owner.namespace, target):
        if unseen(index, target.namespace):
            return Fault(
                "unknown", f"whether {target} may be referred to is unknown: its ReferenceGrants were not read"
            )
        return Fault("grant", f"no ReferenceGrant in namespace {target.namespace} lets {owner} refer to {target}")
    presence = index.presence(target)
    if presence != "present":
        missing = presence == "missing"
        return Fault("invalid" if missing else "unknown", f"{target} {'does not exist' if missing else 'was not read'}")
    lacking = [key for key in keys if not _holds(index.raw(target), key)]
    return Fault("invalid", f"{target} has no valid {' and no valid '.join(lacking)}") if lacking else None


def _holds(raw: Mapping[str, Json], key: str) -> bool:
    """Whether an object has a value under a key and, for a certificate, whether it looks like one in PEM.

    No value is kept or shown, and of a private key nothing but its presence is looked at. An object without any data is
    one whose body was withheld, so nothing can be said against it.
    """
    parts = [part for part in ("stringData", "data", "binaryData") if value_at(raw, part) is not None]
    texts = [_text(raw, part, key) for part in parts]
    return not parts or any(text and (key == "tls.key" or _PEM in text) for text in texts)


def _text(raw: Mapping[str, Json], part: str, key: str) -> str:
    """The text under a key of one part of a ConfigMap or Secret, decoded if need be; empty if malformed."""
    found = mapping_at(raw, part).get(key)
    if not isinstance(found, str):
        return ""
    if part == "stringData" or (part == "data" and text_at(raw, "kind") == CONFIG_MAP.kind):
        return found
    try:
        return base64.b64decode("".join(found.split()), validate=True).decode("ascii", "replace")
    except ValueError:
        return ""
