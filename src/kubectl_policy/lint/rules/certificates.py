"""Certificates of listeners and of backends, as far as they can be judged without reading Secrets.

GWP5012 and GWP5013 are about backends; GWP6004, GWP6007 and GWP6012 about listeners and Gateways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lint.competition import hostname_field
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Problem, Resource, Severity
from kubectl_policy.model.fields import each_mapping, items_at, mapping_at, strings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY
from kubectl_policy.model.unknown import is_unknown_hostname
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.conditions import BACKEND_TLS_POLICY, authority_refs
from kubectl_policy.topology.gateway.certificates import (
    CONFIG_MAP,
    ELSEWHERE,
    INVALID,
    INVALID_KIND,
    SECRET,
    CertificateRef,
    authority_problem,
    certificate_problem,
    certificate_refs,
)
from kubectl_policy.topology.gateway.hostnames import comparable, covers
from kubectl_policy.topology.references import NOT_PERMITTED, refer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.topology.gateway.listeners import Listener

# cert-manager makes Secrets: as Certificates say, or by annotations of what has listeners.
_CERTIFICATE: Final = GroupKind("cert-manager.io", "Certificate")
_ISSUERS: Final = frozenset({"cert-manager.io/issuer", "cert-manager.io/cluster-issuer"})
_CLIENT: Final = "spec.tls.backend.clientCertificateRef"
_INSECURE: Final = "AllowInsecureFallback"


@lint_rule("GWP5012", "error", "closed world")
def ca_ref_invalid(world: LintWorld) -> Iterator[Finding]:
    """A BackendTLSPolicy refers to a CA certificate that does not exist or is invalid.

    Without a valid CA certificate, connections to the backend fail, and requests get a 5xx status. The reference names
    a ConfigMap in the namespace of the policy, with a PEM certificate under the key `ca.crt`. Some implementations read
    another key, so a ConfigMap with other keys is a warning. How implementations treat Secrets is unknown.

    Source: BackendTLSPolicyValidation.CACertificateRefs, with its reasons InvalidCACertificateRef, InvalidKind and
    NoValidCACertificate (Gateway API, apis/v1/backendtlspolicy_types.go).
    """
    for policy in world.of_kind(BACKEND_TLS_POLICY):
        for ref in authority_refs(world.topology, policy.ref):
            if ref.problem:
                yield _not_a_certificate(world, policy, ref, ref.problem)


@lint_rule("GWP5013", "error")
def ca_and_wellknown(world: LintWorld) -> Iterator[Finding]:
    """A BackendTLSPolicy sets no CA certificates to validate the backend, or sets them twice.

    An API server rejects the policy: exactly one of `caCertificateRefs` and `wellKnownCACertificates` must be set.

    Source: BackendTLSPolicyValidation, its two rules (Gateway API, apis/v1/backendtlspolicy_types.go).
    """
    for policy in world.of_kind(BACKEND_TLS_POLICY):
        validation = mapping_at(world.index.defaulted(policy.ref), "spec.validation")
        references, known = items_at(validation, "caCertificateRefs"), value_at(validation, "wellKnownCACertificates")
        # Before its version v1alpha3, the kind had other fields.
        is_older = value_at(policy.raw, "spec.tls") is not None
        if bool(references) == bool(known) and not is_older:
            which = "both caCertificateRefs and" if references else "neither caCertificateRefs nor"
            yield Finding(
                subject=policy.ref,
                field="spec.validation",
                message=f"it has {which} wellKnownCACertificates, and must have one of the two",
            )


def _not_a_certificate(world: LintWorld, policy: Resource, ref: CertificateRef, problem: Problem) -> Finding:
    target, is_missing = ref.target, world.index.presence(ref.target) == "missing"
    needs, is_kind = world.registry.profile(BACKEND_TLS_POLICY).every_need, problem.reason == INVALID_KIND
    # Further kinds, and what is in Secrets, are up to the implementation.
    own_kind = is_kind and any(target.group_kind in need.group_kinds for need in needs)
    own_format = target.group_kind == SECRET and not is_missing and problem.reason != ELSEWHERE
    if problem.reason == ELSEWHERE and not problem.certain:
        return world.unknown(policy, ref.field, problem.message, "warning")
    if own_kind or own_format or not problem.certain:
        return world.unknown(policy, ref.field, problem.message)
    # Some implementations take the certificate under another key.
    keys = mapping_at(world.index.defaulted(target), "data")
    has_other_key = bool(keys) and "ca.crt" not in keys
    unless = "unless the implementation takes another key, " if has_other_key else ""
    return Finding(
        subject=policy.ref,
        field=f"{ref.field}.kind" if is_kind else f"{ref.field}.name",
        message=f"{problem.message}; {unless}connections to the backend fail",
        reason=INVALID_KIND if is_kind else "InvalidCACertificateRef",
        fix=world.meant(target, world.trials.referred(policy.ref, target)) if is_missing else None,
        related=(
            *((world.related(target),) if world.index.get(target) else ()),
            *(world.failing_routes([policy.ref]) or world.routes_to_targets(policy.ref)),
        ),
        severity="warning" if has_other_key else None,
    )


@lint_rule("GWP6004", "error", "closed world")
def cert_ref_missing(world: LintWorld) -> Iterator[Finding]:
    """A listener names a certificate that does not exist, is not permitted, or is not a certificate.

    The controller reports `ResolvedRefs=False`. TLS connections to the listener fail or get another certificate. A
    certificate in another namespace needs a ReferenceGrant there. A Secret that cert-manager creates, because of a
    Certificate or an annotation of the Gateway, is not reported as missing. The rule also checks the certificates that
    a Gateway uses to validate its clients, and the certificate that it presents to backends.

    Source: ListenerReasonInvalidCertificateRef, ListenerReasonRefNotPermitted, ListenerReasonInvalidCACertificateRef
    and GatewayReasonInvalidClientCertificateRef (Gateway API, apis/v1/gateway_types.go).
    """
    for owner in world.listener_holders:
        for ref, use in _references(world, owner):
            if ref.problem:
                yield _invalid_reference(world, owner, ref, ref.problem, use)


class _Use(Struct, frozen=True):
    """The Gateway or listener that a certificate is for, and the API's reason if it is invalid."""

    node: NodeRef
    reason: str


def _references(world: LintWorld, owner: Resource) -> Iterator[tuple[CertificateRef, _Use]]:
    """Yield the references to certificates, each with its use."""
    gateways = world.gateways
    for listener in gateways.listeners(owner.ref):
        for ref in certificate_refs(gateways, listener):
            yield ref, _Use(listener.node, "InvalidCertificateRef")
    tls = mapping_at(owner.raw, "spec.tls") if owner.ref.group_kind == GATEWAY else None
    if tls:
        target = refer(world.index, mapping_at(tls, "backend.clientCertificateRef"), owner.ref.namespace, SECRET)
        if target.name:
            problem = certificate_problem(gateways, owner.ref, target)
            yield CertificateRef(_CLIENT, target, problem), _Use(NodeRef(owner.ref), "InvalidClientCertificateRef")
        for part in ("default", "perPort.tls"):
            for field, reference in each_mapping(tls, f"frontend.{part}.validation.caCertificateRefs"):
                target = refer(world.index, reference, owner.ref.namespace, CONFIG_MAP)
                problem = authority_problem(gateways, owner.ref, target)
                is_kind = problem is not None and problem.reason == INVALID_KIND
                reason = "InvalidCACertificateKind" if is_kind else "InvalidCACertificateRef"
                yield CertificateRef(f"spec.tls.{field}", target, problem), _Use(NodeRef(owner.ref), reason)


def _invalid_reference(world: LintWorld, owner: Resource, ref: CertificateRef, problem: Problem, use: _Use) -> Finding:
    is_missing = problem.reason == INVALID and world.index.presence(ref.target) == "missing"
    if not problem.certain:
        severity: Severity | None = "warning" if problem.reason == ELSEWHERE else None
        tried = world.trials.referred(owner.ref, ref.target)
        return world.unknown(owner, ref.field, problem.message, severity, name=tried)
    if is_missing and _names_by_cert_manager(world, owner, ref.target) is not None:
        return world.unknown(owner, ref.field, f"{ref.target} is made by cert-manager, and was not read")
    is_refused = problem.reason == NOT_PERMITTED
    fix = world.meant(ref.target, world.trials.referred(owner.ref, ref.target)) if is_missing else None
    return Finding(
        subject=owner.ref,
        field=f"{ref.field}.name" if is_missing else ref.field,
        message=problem.message,
        reason=NOT_PERMITTED if is_refused else use.reason,
        related=world.routes_refused_at(use.node),
        fix=world.grant_for(owner.ref, ref.target) if is_refused else fix,
    )


@lint_rule("GWP6007", "warning")
def wildcard_depth(world: LintWorld) -> Iterator[Finding]:
    """A hostname has more labels than its certificate covers.

    In Gateway API, `*.example.com` matches one or more labels; in certificates, exactly one. Clients of
    `a.b.example.com` get a certificate for other names and refuse the connection. The rule checks only certificates of
    cert-manager, whose manifests contain the names; the contents of Secrets are not read. Add the hostname, or
    `*.b.example.com`, to the names of the certificate.

    Source: RFC 9525, section 6.3 (before: RFC 2818); Hostnames (Gateway API, site-src/concepts/hostnames.md).
    """
    for owner, listener in world.listeners:
        if not listener.has_tls or not world.is_served(listener):
            continue
        names = _names_of_certificates(world, owner, listener)
        if not any(name.startswith("*.") for name in names):
            continue
        hostnames = dict.fromkeys((listener.hostname, *world.competition.routes_at.get(listener.node, ())))
        for hostname in filter(None, hostnames):
            wide = next((name for name in names if covers(name, hostname)), None)
            if wide and not is_unknown_hostname(hostname) and not any(_covers(name, hostname) for name in names):
                yield _too_deep(world, owner, listener, hostname, wide)


def _too_deep(world: LintWorld, owner: Resource, listener: Listener, hostname: str, wide: str) -> Finding:
    """Return a finding about the first route that names the hostname, or else about the listener."""
    routes = world.competition.routes_at.get(listener.node, {}).get(hostname, ())
    message = f"the certificate of {{}} is for {wide}, which stands for a single label: it does not cover {hostname}"
    for route in filter(world.in_scope, routes):
        field = hostname_field(route, hostname)
        if field:
            related = (world.related_listener(listener.node, "the listener"),)
            return Finding(subject=route.ref, field=field, message=message.format(listener), related=related)
    return Finding(subject=owner.ref, field=f"{listener.field}.hostname", message=message.format("the listener"))


def _covers(name: str, hostname: str) -> bool:
    """Whether a name in a certificate covers all of a hostname."""
    if name.startswith("*.") and not hostname.startswith("*."):
        return hostname.partition(".")[2] == name[2:]
    return name == hostname


def _names_of_certificates(world: LintWorld, owner: Resource, listener: Listener) -> Sequence[str]:
    """Return the names in the certificates of a listener; none unless all certificates are known."""
    refs = list(certificate_refs(world.gateways, listener))
    known = [_names_by_cert_manager(world, owner, ref.target) for ref in refs]
    names = [name for certificate_names in known if certificate_names is not None for name in certificate_names]
    return [] if None in known or any(map(is_unknown_hostname, names)) else names


def _names_by_cert_manager(world: LintWorld, owner: Resource, secret: ObjectRef) -> Sequence[str] | None:
    """Return the names of a certificate that cert-manager keeps in a Secret, or None if it does not."""
    certificates = world.once(_certificates).get(secret, ())
    names = [
        comparable(name)
        for certificate in certificates
        for name in (text_at(certificate.raw, "spec.commonName"), *strings_at(certificate.raw, "spec.dnsNames"))
        if name
    ]
    annotations = mapping_at(owner.raw, "metadata.annotations")
    if owner.ref.namespace == secret.namespace and not _ISSUERS.isdisjoint(annotations):
        listeners = world.gateways.listeners(owner.ref)
        issued_for = [
            listener
            for listener in listeners
            for ref in certificate_refs(world.gateways, listener)
            if ref.target == secret
        ]
        return [*names, *(comparable(listener.hostname) for listener in issued_for if listener.hostname)]
    return names if certificates else None


def _certificates(world: LintWorld) -> Mapping[ObjectRef, Sequence[Resource]]:
    return grouped(
        (ObjectRef(SECRET, certificate.ref.namespace, text_at(certificate.raw, "spec.secretName")), certificate)
        for certificate in world.index.of_kind(_CERTIFICATE)
    )


@lint_rule("GWP6012", "warning", guards=True)
def insecure_frontend_validation(world: LintWorld) -> Iterator[Finding]:
    """A Gateway accepts clients without a valid certificate.

    With `AllowInsecureFallback`, backends have to verify the identity of clients. The API calls this mode a significant
    security risk, to be used for tests or temporarily. Use `AllowValidOnly`, which is the default.

    Source: FrontendTLSValidation.Mode (Gateway API, apis/v1/gateway_types.go);
    GatewayConditionInsecureFrontendValidationMode.
    """
    for gateway in world.of_kind(GATEWAY):
        fields = ["spec.tls.frontend.default.validation.mode"]
        ports = items_at(gateway.raw, "spec.tls.frontend.perPort")
        fields += [f"spec.tls.frontend.perPort[{position}].tls.validation.mode" for position in range(len(ports))]
        for field in fields:
            if text_at(gateway.raw, field) == _INSECURE:
                yield Finding(
                    subject=gateway.ref,
                    field=field,
                    message="clients connect without a valid certificate: only the backends can reject them",
                    fix=Fix(words="write AllowValidOnly", value="AllowValidOnly"),
                )
