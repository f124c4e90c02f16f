"""What each field of a policy kind's profile means: the table from fields to words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.render.explain import merging as merge_words
from kubectl_policy.render.explain import targets as target_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.explain.kinds import Basis, Explanation


class Saying(NamedTuple):
    """What some fields that belong together say: below which heading, under which label, in which words.

    The words are empty where there is nothing to say, which is so of most fields that nobody has set.
    """

    topic: str
    label: str
    fields: tuple[str, ...]
    words: Callable[[PolicyKindProfile], str | tuple[str, ...]]


class Statement(NamedTuple):
    """One thing that is said of a policy kind, the fields of its profile that say so, and where that is from."""

    topic: str
    label: str
    fields: tuple[str, ...]
    text: str
    basis: Basis


TARGETS: Final = "What a policy targets"
EFFECT: Final = "What it changes"
TWO: Final = "How two policies combine"
REPORT: Final = "What its controllers report"

_TARGETS: Final = (
    Saying(TARGETS, "named in", ("reference_fields", "attachment"), target_words.named_words),
    Saying(TARGETS, "by filters", ("filter_routes", "backend_filters"), target_words.filters_words),
    Saying(TARGETS, "may be", ("declared_targets",), target_words.kinds_allowed_words),
    Saying(TARGETS, "or also", ("virtual_targets",), target_words.virtual_words),
    Saying(TARGETS, "no group", ("target_group",), target_words.group_words),
    Saying(TARGETS, "unnamed rules", ("unnamed_rules",), target_words.unnamed_words),
    Saying(TARGETS, "namespace", ("cross_namespace", "grant_required"), target_words.namespace_words),
    Saying(TARGETS, "there", ("targets_exist",), target_words.existence_words),
    Saying(TARGETS, "enabled by", ("enabled_by",), target_words.switch_words),
    Saying(TARGETS, "sizes", ("least_sizes",), target_words.sizes_words),
    Saying(TARGETS, "if invalid", ("when_invalid",), target_words.invalid_words),
    Saying(TARGETS, "selectors", ("empty_selector",), target_words.empty_selector_words),
    Saying(TARGETS, "everywhere", ("global_namespace",), target_words.global_words),
    Saying(TARGETS, "must have", ("needs",), target_words.needs_words),
    Saying(TARGETS, "not shared", ("exclusive_field",), target_words.exclusive_words),
    Saying(TARGETS, "idle", ("target_status",), target_words.target_status_words),
    Saying(TARGETS, "backends", ("backend_fields",), target_words.backends_words),
)
_EFFECT: Final = (
    Saying(EFFECT, "reach", ("policy_class",), target_words.reach_words),
    Saying(EFFECT, "takes effect", ("effective_targets",), target_words.effect_words),
    Saying(EFFECT, "hostnames", ("hostnames",), target_words.hostnames_words),
    Saying(EFFECT, "on sections", ("sections",), target_words.sections_words),
    Saying(EFFECT, "security", ("security_fields",), target_words.security_words),
    Saying(EFFECT, "on Gateways", ("controllers",), target_words.controllers_words),
    Saying(EFFECT, "set up as", ("settings",), target_words.settings_words),
)
_TWO: Final = (
    Saying(TWO, "one further up", ("strategy",), merge_words.above_words),
    Saying(TWO, "on one target", ("same_level", "strategy", "refusal"), merge_words.on_one_target_words),
    Saying(TWO, "on like routes", ("overlap",), merge_words.overlap_words),
    Saying(TWO, "as chosen in", ("strategy_field", "strategy_values"), merge_words.field_words),
    Saying(TWO, "stanzas", ("stanzas",), merge_words.stanzas_words),
    Saying(TWO, "who decides", ("chooser",), merge_words.chooser_words),
    Saying(TWO, "merges with", ("merges_with", "merge_parents"), merge_words.merges_with_words),
    Saying(TWO, "of three", ("fold",), merge_words.fold_words),
    Saying(TWO, "by themselves", ("scopes",), merge_words.scopes_words),
    Saying(TWO, "between routes", ("route_choice",), merge_words.route_choice_words),
    Saying(TWO, "ordered by", ("order_field", "weight_annotation"), merge_words.order_words),
    Saying(TWO, "as one unit", ("whole_fields",), merge_words.whole_words),
    Saying(TWO, "as one unit", ("map_fields",), merge_words.maps_words),
    Saying(TWO, "together", ("shared_fields",), merge_words.joint_words),
    Saying(TWO, "for a port", ("port_field",), merge_words.port_words),
    Saying(TWO, "ignored", ("ignored",), merge_words.ignored_words),
    Saying(TWO, "lists", ("list_keys",), merge_words.lists_words),
    Saying(TWO, "nulls", ("nulls",), merge_words.nulls_words),
    Saying(TWO, "empty", ("empty_without",), merge_words.empty_words),
    Saying(TWO, "target's fields", ("object_fields",), merge_words.own_words),
    Saying(TWO, "elsewhere", ("variants",), merge_words.variants_words),
)
_REPORT: Final = (
    Saying(REPORT, "conditions", ("status",), target_words.status_words),
    Saying(REPORT, "otherwise", ("status_by",), target_words.status_by_words),
)
SAYINGS: Final = (*_TARGETS, *_EFFECT, *_TWO, *_REPORT)


def statements(explanation: Explanation) -> Iterator[Statement]:
    """Everything that is known of a policy kind or taken to be so, in the order in which people ask.

    Of a kind whose way of attaching is not computed only what somebody has said: the defaults claim nothing about it.
    """
    profile = explanation.profile
    for saying in SAYINGS:
        basis = explanation.basis(*saying.fields)
        words = saying.words(profile)
        for text in (words,) if isinstance(words, str) else words:
            if text and (profile.attaches_as_known or basis != "default"):
                yield Statement(saying.topic, saying.label, saying.fields, text, basis)
