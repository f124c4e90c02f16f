"""Restrictions on targets that profiles declare: which policies may name a target, and what they may set there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kinds import listed, plural, with_article
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.unknown import may_equal

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile


def target_restriction(policy: Resource, profile: PolicyKindProfile, target: ObjectRef) -> NotAttached | None:
    """Return the failure of a policy that may not name a target, for its namespace or the target's name; else None."""
    home, kind = policy.ref.namespace, policy.ref.kind
    for restricted in profile.restricted_targets:
        if restricted.group_kind != target.group_kind:
            continue
        if restricted.names and target.name not in restricted.names:
            message = f"of {plural(target.kind)}, {with_article(kind)} can target only {listed(restricted.names)}"
            is_open = any(may_equal(target.name, name) for name in restricted.names)
            return NotAttached("target unknown" if is_open else "not permitted", f"{message}, not {target.name}")
        if restricted.namespace and home != restricted.namespace:
            where = f"{with_article(target.kind)} can be the target only of {plural(kind)} in {restricted.namespace}"
            is_open = may_equal(home, restricted.namespace)
            message = f"{where}, not in {shown_namespace(home)}"
            return NotAttached("target unknown" if is_open else "not permitted", message)
    return None


def field_restriction(policy: Resource, profile: PolicyKindProfile, target: ObjectRef) -> NotAttached | None:
    """Return the failure of a policy that sets fields which make it invalid on targets of a kind; None otherwise."""
    variant = profile.at(target.group_kind)
    if variant.other_fields == "ignored":
        return None
    spec, (not_settings, _) = mapping_at(policy.raw, "spec"), profile.references
    fields = [key for key, value in spec.items() if key not in not_settings and value is not None]
    other = [field for field in fields if not variant.counts(field)]
    if not other:
        return None
    allowed = listed(sorted(variant.counting_fields or ()))
    message = f"a policy on {with_article(target.kind)} may set only {allowed}, and {policy.ref} sets {listed(other)}"
    return NotAttached("policy invalid", message, competes=True)
