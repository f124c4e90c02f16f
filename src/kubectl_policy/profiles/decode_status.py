"""From a valid profile file to the conditions that the controllers of its kinds report."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from kubectl_policy.profiles.status import STANDARD_STATUS, ConditionWords, StatusProfile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind
    from kubectl_policy.profiles.status import Event


def status_of(group_kind: GroupKind, fields: Mapping[str, Any]) -> StatusProfile:
    """What is reported, where and on which event; `{kind}` in it stands for the kind."""
    placement = fields.get("placement", STANDARD_STATUS.placement)
    narrowed_by = fields.get("narrowedBy", STANDARD_STATUS.narrowed_by)
    said = StatusProfile(
        placement,
        narrowed_by,
        enforced_by=fields.get("enforcedBy", STANDARD_STATUS.enforced_by),
        affects=fields.get("affects", STANDARD_STATUS.affects),
        target_annotation=fields.get("targetAnnotation", "").replace("{kind}", group_kind.kind.lower()),
    )
    if "conditions" not in fields:
        return said
    conditions: dict[Event, tuple[ConditionWords, ...]] = {
        _event(name): tuple(_words(group_kind, words) for words in (said, *said.get("also", ())))
        for name, said in fields["conditions"].items()
    }
    return replace(said, conditions=MappingProxyType(conditions))


def _words(group_kind: GroupKind, words: Mapping[str, str]) -> ConditionWords:
    return ConditionWords(words["type"].replace("{kind}", group_kind.kind), words["status"], words["reason"])


def _event(name: str) -> Event:
    """`targetMissing` in a file is the event "target missing"."""
    return cast("Event", "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name))
