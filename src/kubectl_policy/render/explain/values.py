"""Rules of a policy kind about values of settings and about listeners, as phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import with_article
from kubectl_policy.profiles.values import FORMS
from kubectl_policy.render.wording.names import count, kinds_phrase

if TYPE_CHECKING:
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.values import ValueRule


_MAX_FIELDS: Final = 3


def value_rules(profile: PolicyKindProfile) -> str:
    """Describe the rules about values: `spec.wait must be a duration`."""
    return "; ".join(map(_value_rule, profile.values))


def required_settings(profile: PolicyKindProfile) -> str:
    """Describe the settings that need a setting in a policy of another kind."""
    return "; ".join(
        f"{required.field} needs {with_article(required.kind)} that sets {required.other_field}"
        for required in profile.required_settings
    )


def listener_rules(profile: PolicyKindProfile) -> str:
    """Describe what a kind requires of the listeners that a policy targets, and which it can name."""
    host, merged = profile.default_host_field, kinds_phrase(profile.merged_targets)
    phrases = (
        "a policy must target all listeners of plain HTTP on a port" if profile.ports == "whole" else "",
        f"{host} needs one hostname without a wildcard at each listener" if host else "",
        "a reference to a Gateway can name listeners of its ListenerSets" if profile.gateway_sections == "all" else "",
        f"{merged} only where the Gateways of a class are merged, and nothing else there" if merged else "",
    )
    return "; ".join(filter(None, phrases))


def named_settings(profile: PolicyKindProfile) -> str:
    """Describe the settings that name items of lists: `spec.rule must be one of spec.rules.name`."""
    return "; ".join(
        f"{named.field} must be one of {named.names}; otherwise {named.harm}" for named in profile.named_settings
    )


def _value_rule(rule: ValueRule) -> str:
    phrases = [f"must be {FORMS[rule.form]}"] if rule.form else []
    phrases += [f"must not be less than {rule.least}"] if rule.least is not None else []
    phrases += [f"must not be more than {rule.most}"] if rule.most is not None else []
    phrases += [f"must set {', '.join(rule.requires)}"] if rule.requires else []
    phrases += [f"must not be {', '.join(map(str, rule.excludes))}"] if rule.excludes else []
    phrases += [f"must be {' or '.join(rule.only)}"] if rule.only else []
    phrases += [f"must not have more than {count(rule.max_items, 'element')}"] if rule.max_items is not None else []
    phrases += [f"can have one limit without {rule.default_without}"] if rule.default_without else []
    only = f" for {kinds_phrase(rule.targets)}" if rule.targets else ""
    names, hidden = rule.fields[:_MAX_FIELDS], len(rule.fields) - _MAX_FIELDS
    more = f" and {count(hidden, 'other field')}" if hidden > 0 else ""
    return f"{', '.join(names)}{more} {' and '.join(phrases)}{only}"
