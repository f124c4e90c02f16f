"""GWP8008 and GWP8009: definitions of Gateway API that do not fit together, and versions of kinds that will go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.kinds import CRD, GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.patterns import pattern
from kubectl_policy.topology.references import GATEWAY_CLASS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Json, Resource

_BUNDLE: Final = f"{GATEWAY_API}/bundle-version"
_CHANNEL: Final = f"{GATEWAY_API}/channel"
_NUMBERS: Final = pattern(r"\d+")
_UNSUPPORTED: Final = {"SupportedVersion": "False"}


@lint_rule("GWP8008", "warning")
def crd_version_skew(world: Linted) -> Iterator[Finding]:
    """The definitions of Gateway API are of different versions, or of one that a controller does not support.

    An installation replaces some of them and leaves others behind, or two implementations have brought their own. A
    field that only the newer version has is then dropped without a word where the older definition is. A controller
    that does not support the version says so in the condition SupportedVersion of its GatewayClass. Preliminary
    versions count as what they lead to; definitions without the annotation of their version are not looked at.

    Source: GatewayClassConditionStatusSupportedVersion (Gateway API, apis/v1/gatewayclass_types.go); Istio IST0156.
    """
    versions: dict[Resource, tuple[int, ...]] = {}
    for definition in world.index.of_kind(CRD):
        numbers = _NUMBERS.findall(_annotation(definition, _BUNDLE).partition("-")[0])[:3]
        if numbers and text_at(definition.raw, "spec.group") in {GATEWAY_API, GATEWAY_API_EXPERIMENTAL}:
            versions[definition] = tuple(int(number[:9]) for number in numbers)
    newest = max(versions, key=lambda definition: versions[definition], default=None)
    for definition, version in versions.items():
        if newest and version != versions[newest]:
            channel = _annotation(definition, _CHANNEL)
            bundle = f"{_annotation(definition, _BUNDLE)}{f' ({channel})' if channel else ''}"
            yield Finding(
                subject=definition.ref,
                field=f'metadata.annotations["{_BUNDLE}"]',
                message=f"is of Gateway API {bundle}, and {newest.ref.name} of {_annotation(newest, _BUNDLE)}",
                related=(world.related(newest.ref, "the newest one"),),
                fix=Fix(words=f"install all of {_annotation(newest, _BUNDLE)}"),
            )
    for told in world.reported.current:
        if told.resource.ref.group_kind == GATEWAY_CLASS and told.has(_UNSUPPORTED):
            field, reported = world.reported.written(told)[0], told.comparison.reported
            reason = reported.reason if reported else ""
            yield Finding(subject=told.resource.ref, field=field, message=told.words, reason=reason)


def _annotation(resource: Resource, name: str) -> str:
    found = mapping_at(resource.raw, "metadata.annotations").get(name)
    return found if isinstance(found, str) else ""


@lint_rule("GWP8009", "info")
def served_version_deprecated(world: Linted) -> Iterator[Finding]:
    """An object is written in a version of its API that is deprecated.

    An API server still takes it, with a warning, and will not after some upgrade. What is stored in the cluster is
    not concerned: only the manifest has to name another version. Only kinds are looked at of which the definition is in
    the input.

    Source: CustomResourceDefinitionVersion.deprecated (Kubernetes, apiextensions.k8s.io/v1).
    """
    for kind, definition in world.index.definitions.items():
        versions = {text_at(each, "name"): each for each in mappings_at(definition.raw, "spec.versions")}
        deprecated = {name for name, each in versions.items() if each.get("deprecated") is True}
        if not deprecated:
            continue
        for resource in world.of_kind(kind):
            group, _, version = text_at(resource.raw, "apiVersion").rpartition("/")
            if version in deprecated:
                current = _current(versions)
                said = text_at(versions[version], "deprecationWarning")
                yield Finding(
                    subject=resource.ref,
                    field="apiVersion",
                    message=f"{version} of {kind.kind} is deprecated{f': {said}'.rstrip('.') if said else ''}",
                    fix=Fix(words=f"use {current}", value=f"{group}/{current}") if current else None,
                )


def _current(versions: Mapping[str, Mapping[str, Json]]) -> str:
    """The version to use instead: the one that is stored, or else any that is served; empty without one."""
    fine = {
        name: each for name, each in versions.items() if each.get("served") is not False and not each.get("deprecated")
    }
    stored = (name for name, each in fine.items() if each.get("storage") is True)
    return next(iter((*stored, *fine)), "")
