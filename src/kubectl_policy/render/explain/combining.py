"""Statements on how two policies combine: which policy wins, in which units, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.kinds import listed
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.render.wording.names import either, kinds_phrase, levels_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import ConditionalField

# A label, the profile fields that it covers, and its text, in one line or several; empty if there is nothing to state,
# as for most fields that are not set.
Saying: TypeAlias = "tuple[str, tuple[str, ...], str | Iterable[str]]"

_REFUSED: Final = "the other policy is refused"
_BOTH: Final = "both policies apply; neither overrides the other"
_ABOVE: Final[Mapping[MergeStrategy, str]] = {
    MergeStrategy.NONE: f"the policy further up is kept, and {_REFUSED}",
    MergeStrategy.ATOMIC_DEFAULTS: "the nearer policy replaces the other policy as a whole",
    MergeStrategy.ATOMIC_OVERRIDES: "the policy further up replaces the other policy as a whole",
    MergeStrategy.PATCH_DEFAULTS: "field by field, the nearer policy wins",
    MergeStrategy.PATCH_OVERRIDES: "field by field, the policy further up wins",
    MergeStrategy.STRATEGIC_MERGE: "field by field, the nearer policy wins; lists merge by key",
    MergeStrategy.ALL_APPLY: _BOTH,
}
_STANZAS: Final = {
    "plural": "a nearer policy replaces settings in defaults, and settings in overrides replace those of a nearer"
    " policy: as a whole, or field by field with strategy: {merge}",
    "singular": "a nearer policy replaces settings in default, and settings in override replace those of a nearer"
    " policy, field by field; a policy can have both",
    "none": "settings are in the spec itself, not in defaults or overrides",
    None: "",
}
_FOLD: Final = {
    "bottom-up": "the two nearest policies combine first, so that no policy below can undo an override",
    "top-down": "the two policies furthest up combine first",
    None: "",
}
_WITHIN: Final = {
    "level": "policies on one level",
    "levels": "nested levels, such as a route and the routes to which it delegates",
    "scopes": "the scopes",
}


def _rivals(profile: PolicyKindProfile) -> Iterator[Saying]:
    """List the statements on further rivals of a policy on one target."""
    overlap = "a policy on a route is refused if another route shares a Gateway, port, hostname and path with it"
    yield "overlap", ("overlap",), overlap if profile.overlap == "refused" else ""
    spelled = "two policies do not compete if they write the group of their target differently, empty and as core"
    yield "spellings", ("spellings",), spelled if profile.spellings == "apart" else ""


def combinations(profile: PolicyKindProfile) -> Iterator[Saying]:
    """List the statements on how two policies combine, field by field of the profile."""
    yield "on two levels", ("strategy",), ancestor_phrase(profile)
    yield "on one target", ("same_level", "strategy", "refusal"), one_target_phrase(profile)
    yield from _rivals(profile)
    chosen = [f"{value}: {_above(profile, meaning)}" for value, meaning in profile.strategy_values.items()]
    means = "; ".join(chosen) or "the name of a strategy, such as AtomicDefaults or PatchOverrides"
    field, from_above = profile.strategy_field, profile.strategy_from_above
    unsaid = "; a policy without the field uses that of the nearest policy above that has it" if from_above else ""
    fields = ("strategy_field", "strategy_values", "strategy_from_above")
    yield "strategy field", fields, field and f"{field} of each policy ({means}){unsaid}"
    stanzas = _STANZAS[profile.stanzas].format(merge=profile.stanza_merge or "patch")
    yield "stanzas", ("stanzas", "stanza_merge"), stanzas
    yield "strategy from", ("chooser",), _chooser(profile)
    closest = profile.merges_with == "closest"
    where = f" on {levels_phrase(profile.merge_parents)}" if profile.merge_parents else ""
    every = "the closest policy" if closest else "every policy"
    yield "merges with", ("merges_with", "merge_parents"), f"{every} above it{where}" if where or closest else ""
    yield "three policies", ("fold",), _FOLD[profile.fold]
    scopes = [f"policies on {levels_phrase(scope.levels)}{_below(scope.protocols)}" for scope in profile.scopes]
    remaining = (
        f"{'; '.join(scopes)}; all other policies. Each scope is merged by itself; the narrower scope wins each field"
    )
    yield "scopes", ("scopes",), remaining if scopes else ""
    yield "delegation", ("route_choice",), _route_choice(profile)
    by_number = [f"{profile.order_field}, the smallest number first"] if profile.order_field else []
    weight = profile.weight_annotation
    numbers = [*by_number, *([f"the annotation {weight}, the greatest number first"] if weight else [])]
    age = f"{', then '.join(numbers)}, then age"
    yield "ordered by", ("order_field", "weight_annotation"), age if numbers else ""
    yield "as one unit", ("whole_fields",), _whole(profile)
    maps = listed(sorted(profile.maps_in_stanzas))
    yield "as one unit", ("map_fields",), maps and f"{maps} in default and override"
    yield "joint fields", ("joint_fields",), _shared(profile)
    port = profile.port_field
    instead = f"for its port, an entry of {port.field} replaces {port.instead_of}" if port else ""
    yield "for a port", ("port_field",), instead
    yield "ignored", ("ignored",), _ignored(profile)
    lists = (f"{name} merge by {key}" if key else f"{name} are appended" for name, key in profile.list_keys.items())
    yield "lists", ("list_keys",), "; ".join(lists)
    null = "a field with the value null counts as not set"
    yield "nulls", ("nulls",), null if profile.nulls == "ignore" else ""
    without = profile.empty_without
    yield "empty", ("empty_without",), without and f"a policy without {without} replaces no policy further up"
    fields_ = [f"{theirs} sets {ours}" for ours, theirs in profile.object_fields.items()]
    fields_ += [_in_case(field_) for field_ in profile.conditional_object_fields]
    rank = f"{listed(fields_)}; such a value overrides every default, and every override overrides it"
    yield "target's fields", ("object_fields", "conditional_object_fields"), rank if fields_ else ""
    yield "exceptions", ("variants",), _variants(profile)
    worded = listed(list(dict.fromkeys(part.field for part in profile.summary if part.words)))
    yield "summary", ("summary",), worded and f"first {worded}, then the names of other fields"


def _in_case(own_field: ConditionalField) -> str:
    cases = [f"{own_field.given} is set"] if own_field.given else []
    cases += [f"{own_field.absent} is not set"] if own_field.absent else []
    return f"{own_field.object_field} sets {own_field.field}" + (f" if {listed(cases)}" if cases else "")


def ancestor_phrase(profile: PolicyKindProfile) -> str:
    """Return which of two policies wins if one is above the other."""
    if profile.policy_class == "direct":
        return ""
    chosen = profile.strategy_field or profile.stanzas in {"plural", "singular"}
    return ("unless a policy chooses otherwise, " if chosen else "") + _above(profile, profile.default_strategy)


def _above(profile: PolicyKindProfile, strategy: MergeStrategy) -> str:
    # A challenger that chooses cannot be overridden from above: it merges, or it replaces.
    superseded = {MergeStrategy.NONE, MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES}
    replaces = profile.chooser == "challenger" and strategy in superseded
    return _ABOVE[MergeStrategy.ATOMIC_DEFAULTS if replaces else strategy]


def one_target_phrase(profile: PolicyKindProfile) -> str:
    """Return which of two policies on one target wins."""
    extent = ", on all of its targets" if profile.refusal == "everywhere" else ""
    if profile.same_level == "one-applies":
        return f"the older policy applies, and {_REFUSED}{extent}"
    if profile.same_level == "disjoint":
        return f"both policies apply unless they set a common field; then the newer policy is refused{extent}"
    if profile.same_level == "all-apply":
        return _BOTH
    first_wins = profile.same_level == "first-wins" or (profile.same_level is None and profile.stanzas == "singular")
    # The older policy has the part of the policy further up, and wins where the first one does.
    phrase = _ABOVE[profile.default_strategy].replace("the nearer", "the older" if first_wins else "the newer")
    older = "the heavier or else the older policy" if profile.weight_annotation else "the older policy"
    return phrase.replace("the policy further up", "the older policy").replace("the older policy", older)


def _chooser(profile: PolicyKindProfile) -> str:
    if profile.chooser == "challenger":
        return "the nearer policy"
    return "the policy further up" if profile.strategy_field else ""


def _below(protocols: Iterable[str]) -> str:
    return f" (below {either(sorted(protocols))} listeners)" if protocols else ""


def _route_choice(profile: PolicyKindProfile) -> str:
    choice = profile.route_choice
    if choice is None:
        return ""
    values = [
        f"{value}: {_ABOVE[means.strategy]}"
        + ("; joint fields are combined" if means.joint else "")
        + (", those of the delegating route first" if means.joint is MergeStrategy.PATCH_OVERRIDES else "")
        for value, means in choice.values.items()
    ]
    if choice.listed:
        values.append(f"a list of fields below {choice.listed.below}: for these, {_ABOVE[choice.listed.strategy]}")
    return f"the annotation {choice.annotation} of the delegating route ({'; '.join(values)})"


def _whole(profile: PolicyKindProfile) -> str:
    units: list[str] = []
    for field in sorted(profile.whole_fields):
        path, _, key = field.rstrip("]").partition("[")
        entry = f"each entry of {field.removesuffix('.*')}" if field.endswith(".*") else field
        units.append(f"each element of {path}, by its {key}" if key else "each field" if field == "*" else entry)
    return listed(units)


def _shared(profile: PolicyKindProfile) -> Iterator[str]:
    for field in profile.joint_fields:
        entries = f"elements by {field.by[1:-1]}" if field.by.startswith("[") else f"entries by {field.by}"
        of = {"": "the values of each policy", "*": "its fields, each from one policy"}.get(field.by, entries)
        levels = either([_WITHIN[within] for within in field.within])
        unless = f", unless they differ in {either(field.unless)}" if field.unless else ""
        yield f"{field.field}: {of}, among {levels}{unless}"


def _ignored(profile: PolicyKindProfile) -> Iterator[str]:
    for part in profile.ignored:
        where = f" with the value {either(sorted(part.values))}" if part.values else ""
        fields = listed(part.fields) if part.fields else "policies"
        annotated = (f"with the annotation {name}: {either(values)}" for name, values in part.annotations.items())
        by = f" {either(list(annotated))}" if part.annotations else ""
        levels = f" on {levels_phrase(part.levels)}" if part.levels else ""
        yield f"{fields}{where}{by}{levels}{_below(part.protocols)}"


def _counting(profile: PolicyKindProfile) -> str:
    if not profile.counting_fields:
        return ""
    phrase = f"only these fields count: {listed(sorted(profile.counting_fields))}"
    return f"{phrase}; a policy there with any other is invalid" if profile.other_fields == "invalid" else phrase


# What may differ for some targets, and the words before it.
_VARYING: Final[Sequence[tuple[Callable[[PolicyKindProfile], str], str]]] = (
    (ancestor_phrase, ""),
    (one_target_phrase, "on one target "),
    (_chooser, "strategy from "),
    (_whole, "as one unit: "),
    (_counting, ""),
    (lambda profile: "; ".join(_ignored(profile)), "ignored: "),
)


def _variants(profile: PolicyKindProfile) -> str:
    def differences(at_kind: PolicyKindProfile) -> str:
        phrases = ((lead, phrase(at_kind), phrase(profile)) for phrase, lead in _VARYING)
        return "; ".join(f"{lead}{varied or 'nothing'}" for lead, varied, usual in phrases if varied != usual)

    kinds = (kind for variant in profile.variants for kind in sorted(variant.targets))
    differing = grouped((differences(profile.at(kind)), kind) for kind in kinds)
    return ". ".join(f"At {kinds_phrase(kinds)}, {text}" for text, kinds in differing.items() if text)
