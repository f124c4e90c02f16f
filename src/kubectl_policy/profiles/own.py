"""Which fields of the rules of routes are settings, which no policy makes: by which names, and what they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.profiles.controllers import EVIDENCE
from kubectl_policy.profiles.shapes import (
    NAME,
    NOTHING,
    PATH,
    PROTECTING,
    Declared,
    Entries,
    Items,
    Record,
    field_of,
    required_field,
    set_of,
)
from kubectl_policy.profiles.summary import SummaryPart

if TYPE_CHECKING:
    from collections.abc import Mapping

# Where profiles of policy kinds say what a rule of a route itself says.
OF_RULE: Final = "rule."


class OwnSettings(Declared, frozen=True, kw_only=True):
    """What the rules of a kind of routes say themselves.

    What a rule sends to several backends, each by its `weight`, and what the filters of a backendRef do there, are
    settings too.
    """

    fields: Mapping[str, str] = field_of(Entries(NAME), default=NOTHING)
    """A map from the fields of a rule that are settings, each with all that is below it, to what people call them, in
    the singular: `timeouts: timeout`.
    """
    filters: Mapping[str, str] = field_of(Entries(NAME), default=NOTHING)
    """The same for what a filter of a rule, or of one of its backendRefs, may hold: `requestRedirect: redirect`. Other
    filters are none of these settings.
    """
    keys: Mapping[str, str] = field_of(Entries(PATH), default=NOTHING)
    """A map from lists among the settings to the field by which their elements are told apart, a text or a reference;
    of a filter that a rule may have several times, it is a field of the filter. Without it: lists come whole.
    """
    security_fields: frozenset[str] = field_of(set_of(PROTECTING), default=frozenset())
    """The settings whose loss takes a protection away, as `securityFields` of a policy kind has them."""
    summary: tuple[SummaryPart, ...] = field_of(Items(Record(SummaryPart), least=1), default=())
    """What they are called in short, as `summary` of a policy kind has it. Without it: by their names."""
    evidence: tuple[str, ...] = required_field(EVIDENCE)
    """Where this is written."""

    def words(self, object_field: str) -> str:
        """What people call the setting that a field of `rule` is part of; just that where it is not said."""
        first = object_field.removeprefix(OF_RULE).partition(".")[0]
        return self.fields.get(first) or self.filters.get(first) or "setting"
