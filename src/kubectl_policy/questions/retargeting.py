"""A policy as it would be if it had another target."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from kubectl_policy.attachment.references import section_names, target_references
from kubectl_policy.errors import UsageError
from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import FieldPath, mapping_at, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile


def retargeted(analysis: Analysis, ref: ObjectRef, target: ObjectRef, section: str = "") -> Resource:
    """Return a policy with another target alone; `section` may have its own name, or that in references of the kind."""
    profile = analysis.registry.profile_of(ref.group_kind)
    policy = analysis.index.get(ref)
    if profile is None or policy is None:
        raise UsageError(f"{ref} is not a policy", "a profile says which kinds are policies: --profiles PATH")
    if not profile.target_fields:
        how, hint = {
            "filter": ("filters of routes name it", "change the routes instead"),
            "parameters": ("Gateways and classes name it as their parameters", "change these instead"),
            "policy": ("it is not known how its kind attaches", "a profile can say it: --profiles PATH"),
        }[profile.role]
        raise UsageError(f"{ref} names no targets of its own: {how}", hint)
    field = _field(policy, profile)
    named = _section_name(analysis, profile, target, section) if section else ""
    reference = _reference(analysis, policy, profile, NodeRef(target, named))
    now = value_at(policy.raw, field)
    as_list = isinstance(now, list) if now is not None else field.endswith("s")
    raw: Json = policy.raw
    for target_field in profile.target_fields:
        if target_field != field:
            raw = FieldPath.parse(target_field).remove(raw)
    raw = FieldPath.parse(field).put(raw, [reference] if as_list else reference)
    return replace(policy, raw=cast("Mapping[str, Json]", raw))


def _field(policy: Resource, profile: PolicyKindProfile) -> str:
    """Return the field in which a policy names its targets, or could name them if it selects them by labels."""
    declared = target_references(policy, profile)
    if not declared:
        hint = "give it the reference that it is to have, in a manifest"
        raise UsageError(f"{policy.ref} has no target reference that could be replaced", hint)
    used = declared[0].field.partition("[")[0]
    by_name = [field for field in profile.target_fields if "Selector" not in field]
    if used in by_name:
        return used
    if not by_name:
        hint = "give the target such labels, in a manifest"
        raise UsageError(f"{policy.ref} selects its targets by labels, and cannot name one", hint)
    # Of the two fields that name targets, a list is the newer one, as are selectors.
    return next((field for field in by_name if field.endswith("s")), by_name[0])


def _section_name(analysis: Analysis, profile: PolicyKindProfile, target: ObjectRef, section: str) -> str:
    """Return the name that references of a policy kind use for a section, given by that name or by its own."""
    sections = analysis.topology.sections(target)
    names = section_names(target, sections, profile)
    if section in {*filter(None, names.values())}:
        return section
    if names.get(section):
        return names[section]
    if section in names:
        message = f"{profile.group_kind.kind} cannot target a rule without a name, such as {section} of {target}"
        raise UsageError(message, "give the rule a name first")
    known = [name for name in names.values() if name]
    hint = f"it has {', '.join(known)}" if known or sections else analysis.topology.sections_phrase(target)
    raise UsageError(f"{target} has no section {section}", hint)


def _reference(analysis: Analysis, policy: Resource, profile: PolicyKindProfile, target: NodeRef) -> dict[str, Json]:
    """A reference to a target, with what the references of the policy say and what this one cannot do without."""
    written: set[str] = set()
    allowed: set[str] = set()
    schema = mapping_at(analysis.index.defaults.schema_of(policy.ref.group_kind), "properties.spec.properties")
    for path in profile.target_fields:
        value = value_at(policy.raw, path)
        entries = value if isinstance(value, list) else [value]
        written.update(key for entry in entries if isinstance(entry, dict) for key in entry)
        declared = mapping_at(schema, path.removeprefix("spec."))
        allowed.update(mapping_at(declared, "properties"), mapping_at(declared, "items.properties"))
    ref = target.object
    reference: dict[str, Json] = {}
    if "group" in written or ref.group_kind.group != profile.target_group:
        reference["group"] = ref.group_kind.group
    reference |= {"kind": ref.kind, "name": ref.name}
    if ref.namespace and ("namespace" in written or ref.namespace != policy.ref.namespace):
        reference["namespace"] = ref.namespace
    if target.section and "sectionNames" in written | allowed:
        reference["sectionNames"] = [target.section]
    elif target.section:
        reference["sectionName"] = target.section
    return reference
