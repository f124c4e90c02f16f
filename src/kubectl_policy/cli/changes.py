"""Changes to the input: how a command is told of them, and how it shows what follows from them."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

import typer

from kubectl_policy.cli.options import Color
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.render.changes.formats import ChangeAnswer

Delete: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--delete", metavar="TYPE/NAME", help="Take an object away. Repeatable."),
]
Retarget: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--retarget",
        metavar="POLICY=TARGET",
        help="Attach a policy to TYPE/NAME, or to TYPE/NAME#SECTION, and to nothing else. Repeatable.",
    ),
]

ChangeOutput: TypeAlias = Annotated[
    Literal["tree", "table", "wide", "yaml", "json", "markdown", "summary", "name"],
    typer.Option("--output", "-o", help="Output format."),
]

_DELETE_EXAMPLE = "for example: --delete retrypolicy/own"
_RETARGET_EXAMPLE = "for example: --retarget retrypolicy/own=gateway/edge#https"


def show(answer: "ChangeAnswer", output: ChangeOutput, color: Color, called: "Sequence[str]" = ("",)) -> None:
    """Show what changes; beside a table or a list of names, which cannot say it, what that comes to.

    `called` is the command with the options that a next one needs.
    """
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.changes.formats import change_headline, render_change  # noqa: PLC0415 (see options.read)

    view = terminal.view(*called)
    shown = render_change(answer, output, view)
    terminal.show(shown, view.width, coloured=output == "tree" and terminal.wants_colour(color))
    if output in {"table", "wide", "name"}:
        terminal.complain(change_headline(answer))


def deletions(index: "Index", words: "Sequence[str]", namespace: str) -> "tuple[ObjectRef, ...]":
    """The objects that are meant by `TYPE/NAME`, each once.

    Raises `UsageError` for anything else, and `NotFoundError` where there is no such object in the namespace.
    """
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see options.read)

    pairs = [_type_and_name(word, f'--delete takes TYPE/NAME, not "{word}"', _DELETE_EXAMPLE) for word in words]
    return tuple(dict.fromkeys(find(index, *pair, namespace) for pair in pairs))


def retargeted(analysis: "Analysis", word: str, namespace: str) -> "Resource":
    """A policy as it would be if it had the one target that `POLICY=TARGET` says, in the field that it uses now.

    Both are looked for in the namespace, unless their kind is cluster-scoped. Raises `NotFoundError` where one of them
    is not there, and `UsageError` for anything else than that, for what is no policy or names no targets of its own,
    and for a section that the target has not.
    """
    from dataclasses import replace  # noqa: PLC0415 (see options.read)

    from kubectl_policy.model import NodeRef  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see options.read)

    policy_word, _, target_word = word.partition("=")
    target_word, mark, section = target_word.partition("#")
    malformed = f'--retarget takes POLICY=TARGET, not "{word}"'
    if mark and not section:
        raise UsageError(malformed, _RETARGET_EXAMPLE)
    policy_pair = _type_and_name(policy_word, malformed, _RETARGET_EXAMPLE)
    target_pair = _type_and_name(target_word, malformed, _RETARGET_EXAMPLE)
    ref = find(analysis.index, *policy_pair, namespace)
    profile = _profile(analysis, ref)
    policy = cast("Resource", analysis.index.get(ref))  # It was found.
    field = _field(policy, profile)
    target = find(analysis.index, *target_pair, namespace)
    called = _section(analysis, profile, target, section) if section else ""
    reference = _reference(analysis, policy, profile, NodeRef(target, called))
    return replace(policy, raw=_with_reference(policy.raw, profile, field, reference))


def in_scope(resource: "Resource", index: "Index") -> "Resource":
    """An object that was read apart from the definition of its kind, without a namespace if its kind has none."""
    from dataclasses import replace  # noqa: PLC0415 (see options.read)

    if index.namespaced(resource.ref.group_kind) or not resource.ref.namespace:
        return resource
    return replace(resource, ref=resource.ref._replace(namespace=""))


def _type_and_name(word: str, malformed: str, example: str) -> tuple[str, str]:
    type_name, _, name = word.partition("/")
    if not type_name or not name or "/" in name:
        raise UsageError(malformed, example)
    return type_name, name


def _profile(analysis: "Analysis", ref: "ObjectRef") -> "PolicyKindProfile":
    """The profile of a policy whose kind has target references. Raises `UsageError` if there is none."""
    profile = analysis.registry.profile_of(ref.group_kind)
    if profile is None:
        raise UsageError(f"{ref} is not known to be a policy", "a profile says which kinds are: --profiles PATH")
    if not profile.target_fields:
        how = "filters of routes name it" if profile.filter_routes else "it is not known how its kind attaches"
        hint = "change the routes instead" if profile.filter_routes else "a profile can say it: --profiles PATH"
        raise UsageError(f"{ref} names no targets of its own: {how}", hint)
    return profile


def _section(analysis: "Analysis", profile: "PolicyKindProfile", target: "ObjectRef", section: str) -> str:
    """What references of a policy kind call a section, which may be given by that name or by its own.

    A rule without a name has none that a reference could use, unless its place is one to the kind.
    """
    from kubectl_policy.topology.references import ROUTES, unnamed_rule  # noqa: PLC0415 (see options.read)

    called: dict[str, str] = {}
    for position, name in enumerate(analysis.topology.sections(target)):
        unnamed = target.group_kind in ROUTES and name == unnamed_rule(position)
        called[name] = profile.unnamed_rules.replace("{n}", str(position + 1)) if unnamed else name
    names = [name for name in called.values() if name]
    if section in names or called.get(section):
        return called.get(section) or section
    if section in called:
        message = f"{profile.group_kind.kind} cannot target a rule without a name, such as {section} of {target}"
        raise UsageError(message, "give the rule a name first")
    hint = f"it has {', '.join(names)}" if names else "it has no sections"
    raise UsageError(f"{target} has no section {section}", hint)


def _field(policy: "Resource", profile: "PolicyKindProfile") -> str:
    """The field in which a policy names its targets; if it selects them by labels, the one in which it could name them.

    Raises `UsageError` if it does neither, or could not.
    """
    from kubectl_policy.attachment.references import target_references  # noqa: PLC0415 (see options.read)

    declared = target_references(policy, profile)
    if not declared:
        hint = "give it the reference that it is to have, in a manifest"
        raise UsageError(f"{policy.ref} has no target reference that could be replaced", hint)
    used = declared[0].field.partition("[")[0]
    by_name = [field for field in profile.target_fields if "Selector" not in field]
    if used in by_name:
        return used
    if not by_name:
        hint = "give the target such labels, in a manifest"
        raise UsageError(f"{policy.ref} selects its targets by labels, and cannot name one", hint)
    # Of the two fields that name targets, a list is the newer one, as are selectors.
    return next((field for field in by_name if field.endswith("s")), by_name[0])


def _reference(
    analysis: "Analysis", policy: "Resource", profile: "PolicyKindProfile", target: "NodeRef"
) -> "dict[str, Json]":
    """A reference to a target, with what the references of the policy say and what this one cannot do without."""
    from kubectl_policy.model.fields import mapping_at, value_at  # noqa: PLC0415 (see options.read)

    written: set[str] = set()
    allowed: set[str] = set()
    schema = mapping_at(analysis.index.defaults.schema_of(policy.ref.group_kind), "properties.spec.properties")
    for path in profile.target_fields:
        value = value_at(policy.raw, path)
        entries = value if isinstance(value, list) else [value]
        written.update(key for entry in entries if isinstance(entry, dict) for key in entry)
        declared = mapping_at(schema, path.removeprefix("spec."))
        allowed.update(mapping_at(declared, "properties"), mapping_at(declared, "items.properties"))
    ref = target.object
    reference: dict[str, Json] = {}
    if "group" in written or ref.group_kind.group != profile.target_group:
        reference["group"] = ref.group_kind.group
    reference |= {"kind": ref.kind, "name": ref.name}
    if ref.namespace and ("namespace" in written or ref.namespace != policy.ref.namespace):
        reference["namespace"] = ref.namespace
    if target.section and "sectionNames" in written | allowed:
        reference["sectionNames"] = [target.section]
    elif target.section:
        reference["sectionName"] = target.section
    return reference


def _with_reference(
    raw: "Mapping[str, Json]", profile: "PolicyKindProfile", field: str, reference: "Mapping[str, Json]"
) -> "Mapping[str, Json]":
    """A policy's content with one reference in a field and none in others; the rest is shared with what is given."""
    from kubectl_policy.model.fields import FieldPath, value_at  # noqa: PLC0415 (see options.read)

    now = value_at(raw, field)
    as_list = isinstance(now, list) if now is not None else field.endswith("s")
    edited: Json = raw
    for path in profile.target_fields:
        where = FieldPath.parse(path)
        edited = where.put(edited, [reference] if as_list else reference) if path == field else where.remove(edited)
    return cast("Mapping[str, Json]", edited)
