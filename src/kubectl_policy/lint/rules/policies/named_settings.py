"""Settings of policies that name items of lists in the same policy (GWP1030)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lint.finding import Finding, some
from kubectl_policy.lint.lint_world import did_you_mean, nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import each_text
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.resolution.traced import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.profiles.values import NamedSetting


@lint_rule("GWP1030", "error", "profile")
def named_item_missing(world: LintWorld) -> Iterator[Finding]:
    """A setting of a policy names an item that a list of the policy does not have.

    For example, an authorization rule names a JWT provider that was removed or renamed: the rule applies to no request,
    so that a rule with `Deny` protects nothing. If the policy is merged with others, the lists in force count. The
    profile of the policy kind lists such settings.

    Source: the `namedSettings` in the profile of each kind, with their evidence.
    """
    for policy in world.policies:
        for named in world.registry.profile(policy.ref.group_kind).named_settings:
            yield from _missing(world, policy, named)


def _missing(world: LintWorld, policy: Resource, named: NamedSetting) -> Iterator[Finding]:
    written = list(each_text(policy.raw, named.field))
    if not written:
        return
    specs = _specs_in_force(world, policy)
    for field, name in written:
        lacking = [names for names in (_names(spec, named) for spec in specs) if name not in names]
        if lacking and not is_unknown(name):
            inventory = f"it has {some(lacking[0])}" if lacking[0] else "it has none"
            yield Finding(
                subject=policy.ref,
                field=str(field),
                message=f"there is no {name} in {named.names.rpartition('.')[0]}: {inventory}, so {named.harm}",
                fix=did_you_mean(nearest(name, lacking[0])),
            )


def _specs_in_force(world: LintWorld, policy: Resource) -> list[Json]:
    """Return the specs that the policy is part of; its own one if it has an effect nowhere."""
    resolutions = world.analysis.enforcement(policy.ref).resolutions
    return [{"spec": plain(resolution.spec)} for resolution in dict.fromkeys(resolutions)] or [policy.raw]


def _names(spec: Json, named: NamedSetting) -> list[str]:
    return [name for _, name in each_text(spec, named.names)]
