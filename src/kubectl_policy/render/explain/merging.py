"""How two policies of a kind combine, in words: a function for each field of a profile that is about merging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.render.words.names import either, kinds_words, levels_words, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import Inheritance, SharedField

_REFUSED: Final = "the other one is refused"
_ABOVE: Final[Mapping[MergeStrategy, str]] = {
    MergeStrategy.NONE: f"the one further up stands, and {_REFUSED}",
    MergeStrategy.ATOMIC_DEFAULTS: "the nearer one replaces the other one as a whole",
    MergeStrategy.ATOMIC_OVERRIDES: "the one further up replaces the other one as a whole",
    MergeStrategy.PATCH_DEFAULTS: "field by field, the nearer one wins",
    MergeStrategy.PATCH_OVERRIDES: "field by field, the one further up wins",
    MergeStrategy.STRATEGIC_MERGE: "field by field, the nearer one wins; lists merge by their keys",
    MergeStrategy.ALL_APPLY: "both apply, none beats the other",
}
_NEWEST_CHALLENGES: Final[Mapping[MergeStrategy, str]] = {
    MergeStrategy.NONE: f"the older one stands, and {_REFUSED}",
    MergeStrategy.ATOMIC_DEFAULTS: "the newer one replaces the other one as a whole",
    MergeStrategy.ATOMIC_OVERRIDES: "the older one replaces the other one as a whole",
    MergeStrategy.PATCH_DEFAULTS: "field by field, the newer one wins",
    MergeStrategy.PATCH_OVERRIDES: "field by field, the older one wins",
    MergeStrategy.STRATEGIC_MERGE: "field by field, the newer one wins; lists merge by their keys",
    MergeStrategy.ALL_APPLY: "both apply, none beats the other",
}
_FIRST_WINS: Final[Mapping[MergeStrategy, str]] = {
    **_NEWEST_CHALLENGES,
    MergeStrategy.ATOMIC_DEFAULTS: _NEWEST_CHALLENGES[MergeStrategy.ATOMIC_OVERRIDES],
    MergeStrategy.PATCH_DEFAULTS: _NEWEST_CHALLENGES[MergeStrategy.PATCH_OVERRIDES],
    MergeStrategy.STRATEGIC_MERGE: "field by field, the older one wins; lists merge by their keys",
}
_STANZAS: Final = {
    "plural": "settings in defaults give way to a nearer policy, settings in overrides beat it: as a whole, or field"
    " by field where they say strategy: patch",
    "singular": "settings in default give way to a nearer policy, settings in override beat it, field by field; one"
    " policy may have both",
    "none": "settings stand in the spec itself, not in defaults or overrides",
}
_MERGING: Final = frozenset({MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE})


def above_words(profile: PolicyKindProfile) -> str:
    """Of two policies, one above the other."""
    if profile.policy_class == "direct":
        return ""
    prefix = (
        "unless they say otherwise, " if profile.strategy_field or profile.stanzas in {"plural", "singular"} else ""
    )
    return prefix + _above(profile, profile.default_strategy)


def _above(profile: PolicyKindProfile, strategy: MergeStrategy) -> str:
    # A challenger that chooses cannot be beaten from above: it merges, or it replaces.
    replaces = profile.chooser == "challenger" and strategy not in {*_MERGING, MergeStrategy.ALL_APPLY}
    return _ABOVE[MergeStrategy.ATOMIC_DEFAULTS if replaces else strategy]


def on_one_target_words(profile: PolicyKindProfile) -> str:
    """Of two policies on one target."""
    first_wins = profile.same_level == "first-wins" or (profile.same_level is None and profile.stanzas == "singular")
    extent = ", on all of its targets" if profile.refusal == "everywhere" else ""
    if profile.same_level == "one-applies":
        return f"the older one applies, and {_REFUSED}{extent}"
    if profile.same_level == "disjoint":
        return f"both apply unless they set a common field; then the newer one is refused{extent}"
    if profile.same_level == "all-apply":
        return "both apply, none beats the other"
    words = (_FIRST_WINS if first_wins else _NEWEST_CHALLENGES)[profile.default_strategy]
    return words.replace("the older one", "the heavier or else the older one") if profile.weight_annotation else words


def field_words(profile: PolicyKindProfile) -> str:
    """Where and how a policy chooses."""
    if not profile.strategy_field:
        return ""
    named = [f"{value}: {_above(profile, meaning)}" for value, meaning in profile.strategy_values.items()]
    means = "; ".join(named) or "by the name of a strategy, such as AtomicDefaults or PatchOverrides"
    return f"{profile.strategy_field} of each policy ({means})"


def stanzas_words(profile: PolicyKindProfile) -> str:
    """What the parts of a policy mean."""
    return _STANZAS[profile.stanzas] if profile.stanzas else ""


def chooser_words(profile: PolicyKindProfile) -> str:
    """Whose word counts where policies choose."""
    if profile.chooser == "challenger":
        return "the nearer one says how"
    return "the one further up says how" if profile.strategy_field else ""


def merges_with_words(profile: PolicyKindProfile) -> str:
    """With which policies one merges."""
    which = "the closest policy" if profile.merges_with == "closest" else "every policy"
    where = f" on {levels_words(profile.merge_parents)}" if profile.merge_parents else ""
    return f"{which} above it{where}" if where or profile.merges_with == "closest" else ""


def fold_words(profile: PolicyKindProfile) -> str:
    """In which order more than two combine."""
    if profile.fold is None:
        return ""
    undo = ", so that nothing below can undo an override" if profile.fold == "bottom-up" else ""
    return f"the two {'nearest' if profile.fold == 'bottom-up' else 'furthest up'} combine first{undo}"


def order_words(profile: PolicyKindProfile) -> str:
    """What orders policies before their age does."""
    annotation = profile.weight_annotation
    numbers = [f"{profile.order_field}, the smallest number first"] if profile.order_field else []
    numbers += [f"the annotation {annotation}, the greatest number first"] if annotation else []
    return f"{', then '.join(numbers)}, and only then age" if numbers else ""


def overlap_words(profile: PolicyKindProfile) -> str:
    """What becomes of a policy on a route that shares its requests with another one."""
    if profile.overlap == "allowed":
        return ""
    return "a policy on a route is refused if another route has a Gateway, port, hostname and path in common with it"


def whole_words(profile: PolicyKindProfile) -> str:
    """What comes from one policy as a whole."""
    return listed([_unit(field) for field in sorted(profile.whole_fields)])


def _unit(field: str) -> str:
    path, _, key = field.rstrip("]").partition("[")
    if key:
        return f"each element of {path}, by its {key}"
    if field == "*":
        return "each field"
    return f"each entry of {field.removesuffix('.*')}" if field.endswith(".*") else field


_WITHIN: Final = {
    "level": "policies on one level",
    "levels": "levels one below the other, such as a route and the routes that it leads to",
    "scopes": "the scopes",
}


def joint_words(profile: PolicyKindProfile) -> tuple[str, ...]:
    """What is put together from several policies."""
    return tuple(_joint(joint) for joint in profile.shared_fields)


def _joint(joint: SharedField) -> str:
    entries = f"elements by their {joint.by[1:-1]}" if joint.by.startswith("[") else f"entries by {joint.by}"
    of = {"": "what each policy says", "*": "its fields, each from one policy"}.get(joint.by, entries)
    among = either([_WITHIN[within] for within in joint.within])
    unless = f", unless they disagree on {either(joint.unless)}" if joint.unless else ""
    return f"{joint.field}: {of}, among {among}{unless}"


def scopes_words(profile: PolicyKindProfile) -> str:
    """Which policies are merged by themselves before the outcomes meet."""
    scopes = [f"those on {levels_words(scope.levels)}{_below(scope.protocols)}" for scope in profile.scopes]
    return f"{'; '.join(scopes)}; all others. The narrower one wins each field" if scopes else ""


def _below(protocols: Iterable[str]) -> str:
    return f" (below {either(sorted(protocols))} listeners)" if protocols else ""


def route_choice_words(profile: PolicyKindProfile) -> str:
    """How a route that leads to routes chooses."""
    choice = profile.route_choice
    if choice is None:
        return ""
    values = [f"{value}: {_inheritance(means)}" for value, means in choice.values.items()]
    if choice.listed:
        values.append(f"a list of fields below {choice.listed.below}: of these, {_ABOVE[choice.listed.strategy]}")
    return f"the annotation {choice.annotation} of the route that leads to the other one ({'; '.join(values)})"


def _inheritance(means: Inheritance) -> str:
    joint = "; joint fields are put together" if means.joint else ""
    first = ", the further route's first" if means.joint is MergeStrategy.PATCH_OVERRIDES else ""
    return _ABOVE[means.strategy] + joint + first


def ignored_words(profile: PolicyKindProfile) -> tuple[str, ...]:
    """What controllers ignore."""
    return tuple(
        f"{listed(part.fields) if part.fields else 'policies'}{_where_it_is(part.values)} "
        f"on {levels_words(part.levels)}{_below(part.protocols)}"
        for part in profile.ignored
    )


def _where_it_is(values: Collection[str]) -> str:
    return f", where it is {either(sorted(values))}," if values else ""


def port_words(profile: PolicyKindProfile) -> str:
    """What settings for single ports do."""
    said = profile.port_field
    return f"for its port, an entry of {said.field} stands instead of {said.instead_of}" if said else ""


def maps_words(profile: PolicyKindProfile) -> str:
    """Maps that come from one policy as a whole because of what they are, where the experimental text is followed."""
    stanzas = [field.partition(".") for field in profile.map_fields] if profile.stanzas in {None, "singular"} else []
    found = {rest for stanza, _, rest in stanzas if stanza in {"default", "override"} and rest}
    return f"{listed(sorted(found))} in default and override" if found else ""


def lists_words(profile: PolicyKindProfile) -> str:
    """By what the elements of lists are told apart."""
    keys = [f"{name} by {key}" if key else f"{name} are appended" for name, key in profile.list_keys.items()]
    return "; ".join(keys)


def nulls_words(profile: PolicyKindProfile) -> str:
    """What a null means."""
    return "a field set to null counts as not set" if profile.nulls == "ignore" else ""


def empty_words(profile: PolicyKindProfile) -> str:
    """Which policy replaces none further up."""
    return f"a policy without {profile.empty_without} replaces none further up" if profile.empty_without else ""


def own_words(profile: PolicyKindProfile) -> str:
    """Which fields of the target compete with a policy's."""
    pairs = [f"its {theirs} for {ours}" for ours, theirs in profile.object_fields.items()]
    return f"{listed(pairs)}; that beats every default and loses to every override" if pairs else ""


_VARYING: Final[tuple[tuple[Callable[[PolicyKindProfile], str], str], ...]] = (
    (above_words, ""),
    (on_one_target_words, "on one target "),
    (chooser_words, "where they choose, "),
    (whole_words, "as one unit: "),
)


def variants_words(profile: PolicyKindProfile) -> str:
    """What differs where the kind takes effect on objects of some kinds."""
    elsewhere = {kind: profile.at(kind) for variant in profile.variants for kind in sorted(variant.targets)}
    differing = {
        kind: "; ".join(
            f"{lead}{words(varied) or 'nothing'}" for words, lead in _VARYING if words(varied) != words(profile)
        )
        for kind, varied in elsewhere.items()
    }
    texts = dict.fromkeys(text for text in differing.values() if text)
    return ". ".join(
        f"At {kinds_words(kind for kind in differing if differing[kind] == text)}, {text}" for text in texts
    )
