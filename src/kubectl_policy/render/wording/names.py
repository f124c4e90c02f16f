"""Names and numbers in text: counts, kinds, objects, policies on their targets, and values."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.kind_roles import GATEWAY_API_GROUPS, ROUTES, depth_of, section_noun
from kubectl_policy.model.kinds import listed, plural, with_article
from kubectl_policy.model.refs import is_unnamed, shown_namespace
from kubectl_policy.model.world import grouped
from kubectl_policy.render.output.escape import escape_in_json
from kubectl_policy.render.output.text import Segment
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin
    from kubectl_policy.profiles import PolicyKindProfile, TargetLevel
    from kubectl_policy.render.output.text import Style
    from kubectl_policy.resolution import Source

# So many targets of one policy are named in a sentence.
MOST_TARGETS: Final = 4


def count(number: int, noun: str) -> str:
    """`1 policy`, `3 policies`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def of_all(number: int, total: int) -> str:
    """`its only path`, `both of its paths`, `1 of its 4 paths`: a number of paths, after `on`."""
    if total == 1:
        return "its only path"
    if number < total:
        return f"{number} of its {total} paths"
    return "both of its paths" if total == 2 else f"all {total} of its paths"  # noqa: PLR2004 (a pair is "both")


def sections_phrase(kind: GroupKind, names: Sequence[str]) -> str:
    """`listeners a and b`, `rule[0] and rule c`; empty for none."""
    named = [name for name in names if not is_unnamed(name)]
    noun = section_noun(kind)
    phrases = [name for name in names if name not in named]
    phrases += [f"{noun if len(named) == 1 else plural(noun)} {listed(named)}"] if named else []
    return listed(phrases)


def node_label(node: NodeRef) -> str:
    """`Gateway infra/edge, listener https`; the object alone where no section is meant."""
    return f"{node.object}, {section_words(node)}" if node.section else str(node.object)


def kind_counts(kinds: Iterable[GroupKind]) -> str:
    """`6 HTTPRoutes, 3 Services`: how many there are of each kind, the most frequent first."""
    numbers = Counter(group_kind.kind for group_kind in kinds)
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(count(number, kind) for kind, number in ordered)


def attachment_phrase(attachment: Attachment) -> str:
    """Name the target of a reference and the filter that makes it; its field, if it names nothing."""
    if attachment.target:
        return f"{node_label(attachment.target)}{filter_phrase(attachment)}"
    declared = attachment.declared
    unread = "parameters" if declared.way == "parameters" else "filters"
    return declared.field or f"{unread} of {plural(declared.kind)}"


def filter_phrase(attachment: Attachment) -> str:
    """` (by its filter)` after what names a policy itself, and how it does; empty where the policy names its target."""
    way, rule = attachment.declared.way, attachment.declared.rule
    if way == "backend filter":
        return f" (by a filter of its backendRef in {node_label(rule)})" if rule else " (by a filter of its backendRef)"
    return {"reference": "", "filter": " (by its filter)", "parameters": " (as its parameters)"}[way]


def source_filter_phrase(source: Source) -> str:
    """` (by its filter)` of a source that a filter names; empty for any other."""
    of_rule = source.target.object.group_kind in ROUTES
    return (" (by its filter)" if of_rule else " (by a filter of its backendRef)") if source.filter else ""


def self_phrase(obj: ObjectRef) -> str:
    """`the route itself`: the object that an answer is about, as the source of its own settings."""
    return kind_itself(obj.group_kind)


def kind_itself(kind: GroupKind) -> str:
    """`the route itself`, `the Service itself`: an object of a kind as the source of its own settings."""
    return f"the {'route' if kind.kind.endswith('Route') else kind.kind} itself"


# By a source, all of its targets by way of which it brings the same.
Targets: TypeAlias = "Mapping[Source, Sequence[NodeRef]]"
ONE_TARGET: Final[Targets] = MappingProxyType({})


def source_spans(
    source: Source, lead: str = "", style: Style = "", targets: Targets = ONE_TARGET
) -> tuple[Segment, ...]:
    """`RetryPolicy baker/resilience → Namespace baker`; of an object's own field, `HTTPRoute baker/baker itself`.

    Of a source with several `targets` all of these.
    """
    if source.object == source.target.object:
        section = f", {section_words(source.target)}" if source.target.section else ""
        return (Segment(f"{lead}{source.object} itself{section}", style),)
    names = [node_label(target) for target in targets.get(source, ())] or [node_label(source.target)]
    how = source_filter_phrase(source)
    return Segment(f"{lead}{source.object}", style), Segment(f" → {listed(names, MOST_TARGETS)}{how}", style)


def source_phrase(source: Source, targets: Targets = ONE_TARGET) -> str:
    """`source_spans` as one text."""
    return "".join(span.text for span in source_spans(source, targets=targets))


def flow(value: Json) -> str:
    """Return a value in one line: text as it is unless it could be taken for something else, anything else as JSON."""
    if isinstance(value, str) and value and value == value.strip():
        is_number = value.replace(".", "", 1).lstrip("-").isdigit()
        if not (is_number or value in {"true", "false", "null"} or value[0] in '"[{'):
            return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    import json  # noqa: PLC0415 (most values are text or whole numbers)

    text = json.dumps(value, ensure_ascii=False)
    # What is not printable is written out later, in a form that JSON does not have.
    return escape_in_json(text if text.isprintable() else json.dumps(value))


def mark(profile: PolicyKindProfile, choice: str) -> str:
    """` (assumed)`: mark a choice that rests on a default or a guess; empty for any other.

    The choices are those of `PolicyKindProfile.assumed`. A class that a label says, and policies belie, is in doubt.
    """
    if choice not in profile.assumed:
        return ""
    return " (by its label)" if choice == "class" and profile.policy_class == "direct" else " (assumed)"


def either(options: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, [", ".join(options[:-1]), *options[-1:]]))


def kind_names(kinds: Iterable[GroupKind]) -> dict[GroupKind, str]:
    """Map kinds to their names, with the group only where that tells two apart."""
    kinds = dict.fromkeys(kinds)
    number = Counter(kind.kind for kind in kinds)
    return {kind: kind.kind if number[kind.kind] == 1 else str(kind) for kind in kinds}


def kind_phrase(kind: GroupKind) -> str:
    """Name a kind: alone if it is of the core group or of Gateway API, else with its group."""
    return kind.kind if kind.group in {"", *GATEWAY_API_GROUPS} else str(kind)


def kinds_phrase(kinds: Iterable[GroupKind]) -> str:
    """`a Gateway, an HTTPRoute or a Service`: any of some kinds, from the root of the hierarchy on."""
    ordered = sorted(set(kinds), key=lambda kind: (depth_of(kind), kind))
    return either([with_article(kind_phrase(kind)) for kind in ordered])


def levels_phrase(levels: Iterable[TargetLevel]) -> str:
    """`a rule of an HTTPRoute or a GRPCRoute`, `a Service, or a port of it`: any of some levels, in their order."""
    nouns = grouped(
        (section_noun(level.group_kind) if level.section else "", level.group_kind)
        for level in sorted(levels, key=lambda level: level.section)
    )
    whole = nouns.get("", ())
    parts = [
        f"a {noun} of {'it' if kinds == whole else either([with_article(kind_phrase(kind)) for kind in kinds])}"
        if noun
        else either([with_article(kind_phrase(kind)) for kind in kinds])
        for noun, kinds in nouns.items()
    ]
    return ", or ".join(parts)


def namespaces_phrase(names: Iterable[str]) -> str:
    """` in 2 namespaces`, ` in namespace baker`; empty for cluster-scoped objects, which are in none."""
    named = sorted({*names} - {""})
    if len(named) == 1:
        return f" in namespace {shown_namespace(named[0])}"
    return f" in {count(len(named), 'namespace')}" if named else ""


def objects_phrase(refs: Collection[ObjectRef], noun: str = "object") -> str:
    """Return the number of some objects, or the name of the only one."""
    return str(next(iter(refs))) if len(refs) == 1 else count(len(refs), noun)


def at_origin(origin: Origin | None, form: str = "{}") -> str:
    """`file:line`, in a form; empty for what is in no file, as in a cluster."""
    return form.format(origin) if origin and origin.line else ""
