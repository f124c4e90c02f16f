"""Which fields of the rules of routes are settings, which no policy makes: by which names, and what they are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.profiles.controllers import Evidence
from kubectl_policy.profiles.reading import NOTHING, FieldName, Name, SecurityField
from kubectl_policy.profiles.summary import SummaryPart

# Where profiles of policy kinds say what a rule of a route itself says.
OF_RULE: Final = "rule."


class OwnSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the rules of a kind of routes say themselves.

    What a rule sends to several backends, each by its `weight`, and what the filters of a backendRef do there, are
    settings too.
    """

    fields: Mapping[str, Name] = NOTHING
    """A map from the fields of a rule that are settings, each with all that is below it, to what people call them, in
    the singular: `timeouts: timeout`.
    """
    filters: Mapping[str, Name] = NOTHING
    """The same for what a filter of a rule, or of one of its backendRefs, may hold: `requestRedirect: redirect`. Other
    filters are none of these settings.
    """
    keys: Mapping[str, FieldName] = NOTHING
    """A map from lists among the settings to the field by which their elements are told apart, a text or a reference;
    of a filter that a rule may have several times, it is a field of the filter. Without it: lists come whole.
    """
    security_fields: frozenset[SecurityField] = frozenset()
    """The settings whose loss takes a protection away, as `securityFields` of a policy kind has them."""
    summary: Annotated[tuple[SummaryPart, ...], Meta(min_length=1)] = ()
    """What they are called in short, as `summary` of a policy kind has it. Without it: by their names."""
    evidence: Evidence
    """Where this is written."""

    def words(self, object_field: str) -> str:
        """What people call the setting that a field of `rule` is part of; just that where it is not said."""
        first = object_field.removeprefix(OF_RULE).partition(".")[0]
        return self.fields.get(first) or self.filters.get(first) or "setting"
