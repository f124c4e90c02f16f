"""Phrases about conditions in profiles: targets for some policies alone, and settings that protect nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import with_article
from kubectl_policy.render.wording.names import either

if TYPE_CHECKING:
    from kubectl_policy.profiles.needs import RestrictedTarget
    from kubectl_policy.profiles.protection import PermissiveSetting


def restriction_phrase(target: RestrictedTarget) -> str:
    """Return a kind of targets with the names of its objects, and the namespace of the policies, that are allowed."""
    kind = with_article(str(target.group_kind))
    names = f"{kind} only with the name {either(target.names)}" if target.names else kind
    return f"{names} only for policies in namespace {target.namespace}" if target.namespace else names


def permissive_phrase(setting: PermissiveSetting) -> str:
    """Return a setting that lets every request through, with its condition."""
    field = "any field" if setting.field == "*" else setting.field
    conditions = [f"{name} is {either(values)}" for name, values in setting.when.items()]
    conditions += [f"{setting.given} is set"] if setting.given else []
    unless = either([f"{name} is {either(values)}" for name, values in setting.unless.items()])
    return f"{field} if {' and '.join(conditions)}{f', unless {unless}' if unless else ''}"
