"""References to certificates: whether they are permitted, and whether their targets hold certificates."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import GroupKind, Json, ObjectRef, Problem
from kubectl_policy.model.fields import items_at, mapping_at, text_at, value_at
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.unknown import has_placeholder, is_unknown_kind
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from kubectl_policy.topology.gateway.gateways import Gateways
    from kubectl_policy.topology.gateway.listeners import Listener

SECRET: Final = GroupKind("", "Secret")
CONFIG_MAP: Final = GroupKind("", "ConfigMap")
# A Secret with a CA certificate is implementation-specific support in the API, so it is no mistake.
CA_KINDS: Final = (CONFIG_MAP, SECRET)

_PEM: Final = "-----BEGIN CERTIFICATE-----"


# What is wrong with a reference to a certificate, but for a missing ReferenceGrant: its kind, or what it finds.
INVALID_KIND: Final = "InvalidKind"
INVALID: Final = "InvalidRef"
# A Secret that names a certificate elsewhere, which controllers use only if they are set up for it.
ELSEWHERE: Final = "Elsewhere"


def certificate_problem(gateways: Gateways, owner: ObjectRef, target: ObjectRef) -> Problem | None:
    """Return the problem with a reference to a key pair; None if it is valid.

    "A CertificateRef is considered invalid when it refers to a nonexistent or unsupported resource or kind, or when the
    data within that resource is malformed" (ListenerReasonInvalidCertificateRef). Controllers may know types of Secrets
    that name a certificate elsewhere.
    """
    return _problem(gateways, owner, target, (SECRET,), ("tls.crt", "tls.key"))


def authority_problem(gateways: Gateways, owner: ObjectRef, target: ObjectRef) -> Problem | None:
    """Return the problem with a reference to CA certificates, under the key `ca.crt`; None if it is valid.

    Controllers may know further kinds that hold such certificates.
    """
    kinds = {kind.kind: kind for profile in gateways.profiles_of(owner) for kind in profile.authority_kinds}
    if target.kind in kinds:
        return gateways.reference_problem(owner, ObjectRef(kinds[target.kind], "", target.name), INVALID)
    return _problem(gateways, owner, target, CA_KINDS, ("ca.crt",))


class CertificateRef(Struct, frozen=True):
    """A certificateRef of a listener: where it is in its object, what it names, and what is wrong with it."""

    field: str
    target: ObjectRef
    problem: Problem | None


def certificate_refs(gateways: Gateways, listener: Listener) -> Iterator[CertificateRef]:
    """Yield the certificateRefs of a listener that terminates TLS."""
    if listener.protocol not in {"HTTPS", "TLS"} or not listener.terminates:
        return
    owner = listener.node.object
    for position, reference in enumerate(items_at(listener.raw, "tls.certificateRefs")):
        if isinstance(reference, Mapping):
            target = refer(gateways.index, reference, owner.namespace, SECRET)
            field = f"{listener.field}.tls.certificateRefs[{position}]"
            problem = certificate_problem(gateways, owner, target)
            yield CertificateRef(field=field, target=target, problem=problem)


def _problem(
    gateways: Gateways, owner: ObjectRef, target: ObjectRef, kinds: Sequence[GroupKind], keys: Sequence[str]
) -> Problem | None:
    if is_unknown_kind(target.group_kind):
        return Problem(message=f"what kind of object {target} is cannot be known yet", reason=INVALID, certain=False)
    if target.group_kind not in kinds:
        message = (
            f"{with_article(str(target.group_kind))} cannot hold a certificate; {' or '.join(map(str, kinds))} can"
        )
        return Problem(message=message, reason=INVALID_KIND)
    problem = gateways.reference_problem(owner, target, INVALID)
    if problem:
        return problem
    raw = gateways.index.defaulted(target)
    required = _keys_of_type(gateways, owner, raw) if target.group_kind == SECRET else None
    if required is not None:
        return _problem_elsewhere(target, raw, required)
    malformed = [key for key in keys if not _holds(raw, key)]
    if malformed:
        return Problem(message=f"{target} has no valid {' and no valid '.join(malformed)}", reason=INVALID)
    return None


def _problem_elsewhere(target: ObjectRef, secret: Mapping[str, Json], keys: Sequence[str]) -> Problem:
    """Return the problem of a Secret that names a certificate elsewhere: whether that is enabled is not known."""
    absent = [key for key in keys if not _has_value(secret, key)]
    if absent:
        return Problem(message=f"{target} has no {' and no '.join(absent)}", reason=ELSEWHERE)
    message = f"{target} of type {text_at(secret, 'type')} names a certificate elsewhere, which must be enabled"
    return Problem(message=message, reason=ELSEWHERE, certain=False)


def _keys_of_type(gateways: Gateways, owner: ObjectRef, secret: Mapping[str, Json]) -> Sequence[str] | None:
    """Return the keys of a Secret that names a certificate elsewhere; None for one that holds the certificate."""
    types = (profile.secret_types for profile in gateways.profiles_of(owner))
    return next((keys[name] for keys in types if (name := text_at(secret, "type")) in keys), None)


def _has_value(secret: Mapping[str, Json], key: str) -> bool:
    """Whether a Secret has a value under a key, or may have one, since its data was withheld."""
    parts = [part for part in ("stringData", "data") if value_at(secret, part) is not None]
    return not parts or any(mapping_at(secret, part).get(key) for part in parts)


def _holds(raw: Mapping[str, Json], key: str) -> bool:
    """Whether an object has a value under a key and, for a certificate, whether it looks like one in PEM.

    No value is kept or shown, and of a private key nothing but its presence is looked at. An object without any data is
    one whose body was withheld, as is a value that is encrypted or to be filled in: nothing can be said against these.
    """
    parts = [part for part in ("stringData", "data", "binaryData") if value_at(raw, part) is not None]
    written = [mapping_at(raw, part).get(key) for part in parts]
    if not parts or any(isinstance(text, str) and has_placeholder(text) for text in written):
        return True
    texts = [_text(raw, part, key) for part in parts]
    return any(text and (key == "tls.key" or _PEM in text) for text in texts)


def _text(raw: Mapping[str, Json], part: str, key: str) -> str:
    """Return the text under a key of one part of a ConfigMap or Secret, decoded if need be; empty if malformed."""
    text = mapping_at(raw, part).get(key)
    if not isinstance(text, str):
        return ""
    if part == "stringData" or (part == "data" and text_at(raw, "kind") == CONFIG_MAP.kind):
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("ascii", "replace")
    except ValueError:
        return ""
