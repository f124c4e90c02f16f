"""`diff` and `blast-radius`: what becomes of policies with another state, with changes, or without an object."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from kubectl_policy.cli.options import AllowIncomplete, Call, command, split_object
from kubectl_policy.cli.options import exit_code as ending
from kubectl_policy.errors import UsageError
from kubectl_policy.render.changes import BLAST_RADIUS, DIFF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile

_EXAMPLE = "for example: diff main:manifests manifests, or diff -f change.yaml --offline manifests"
_DELETE_EXAMPLE = "for example: --delete retrypolicy/own"
_RETARGET_EXAMPLE = "for example: --retarget retrypolicy/own=gateway/edge#https"


@command(DIFF)
def diff(  # noqa: PLR0913 (every option of its own is a parameter)
    call: Call,
    states: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BEFORE AFTER]", help="Two states: a file, a folder, or REV:PATH of a git revision."),
    ] = None,
    *,
    filename: Annotated[
        list[str] | None,
        typer.Option("--filename", "-f", metavar="PATH", help="Apply these manifests to the input. Repeatable."),
    ] = None,
    delete: Annotated[
        list[str] | None, typer.Option(metavar="TYPE/NAME", help="Take an object away. Repeatable.")
    ] = None,
    retarget: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY=TARGET",
            help="Attach a policy to TYPE/NAME, or to TYPE/NAME#SECTION, and to nothing else. Repeatable.",
        ),
    ] = None,
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Compare two states by what policies amount to.

    Not by their text: either two states are compared, or the input (--offline) with what would become of it. Shows
    which settings are lost, changed and gained, where, and by whose doing; which routes and policies lose or get a
    target; and which problems that makes or mends. Exits with 1 if anything changes, and with 4 if not all could be
    seen that matters.

    \b
    Examples:
      kubectl policy diff main:manifests manifests -o markdown
      kubectl policy diff -f change.yaml --offline manifests/
      kubectl policy diff --delete retrypolicy/resilience -n baker --offline manifests/
      kubectl policy diff --retarget retrypolicy/own=httproute/menu -n baker --offline manifests/
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    changes = [*(filename or ()), *(delete or ()), *(retarget or ())]
    if states and (call.offline or changes):
        raise UsageError("two states are compared as they are", "leave out --offline, -f, --delete and --retarget")
    if (states and len(states) != 2) or not (states or changes):  # noqa: PLR2004 (a pair)
        raise UsageError("diff takes two states, or the input and what is to be changed in it", _EXAMPLE)
    from kubectl_policy.questions.changes.diff import diff as ask  # noqa: PLC0415 (see Call.read)

    comparison = _two_states(call, states) if states else _what_if(call, filename, delete, retarget)
    difference = ask(comparison)
    problems = (*difference.problems.introduced, *difference.problems.fixed)
    # What is wrong with reading the input is the same after changes to it.
    read = (comparison.before, comparison.after) if states else (comparison.after,)
    call.show(DIFF, difference, *read, problems=problems, unseen=difference.unseen)
    return ending(differs=bool(difference.changes), incomplete=bool(difference.unseen) and not allow_incomplete)


@command(BLAST_RADIUS)
def blast_radius(
    call: Call,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object that might be deleted.")
    ] = None,
    *,
    owner: Annotated[
        str,
        typer.Option(
            metavar="KEY", help="Count by owner: a label or annotation of the objects, or of their Namespace."
        ),
    ] = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if deleting it would change anything else.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Show what deleting an object would change.

    Nothing is deleted. For a policy: the objects that it affects, those where others beat it, and what each would have
    instead. For a Gateway, a route, a Service, a Namespace, a ReferenceGrant or anything else: what would lose its
    parents, its targets, its traffic and its settings. Exits with 4 if not all could be seen that matters.

    \b
    Examples:
      kubectl policy blast-radius retrypolicy/resilience -n baker --offline manifests/
      kubectl policy blast-radius gateway/edge -n infra --owner team --offline manifests/
      kubectl policy blast-radius namespace/pastry -o json --offline all.yaml
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    type_name, name = split_object("blast-radius", objects or [])
    analysis = call.read()
    from kubectl_policy.cli.config import owner_key  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.questions.changes.blast_radius import blast_radius as ask  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see Call.read)

    answer = ask(analysis, find(analysis.index, type_name, name, call.namespace), owner or owner_key())
    unseen = answer.difference.unseen
    call.show(BLAST_RADIUS, answer, analysis, unseen=unseen)
    return ending(differs=exit_code and bool(answer.changes), incomplete=bool(unseen) and not allow_incomplete)


def _two_states(call: Call, states: "Sequence[str]") -> "StateComparison":
    from kubectl_policy.cli.config import known  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.comparison import compare  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.sources import load_state  # noqa: PLC0415 (see Call.read)

    told = known(call.profiles, call.setting)
    before, after = (load_state(state, namespace=call.namespace, complete=call.complete) for state in states)
    return compare(before, after, profiles=told.profiles, implementation=told.implementation)


def _what_if(
    call: Call,
    filename: "Sequence[str] | None",
    delete: "Sequence[str] | None",
    retarget: "Sequence[str] | None",
) -> "StateComparison":
    """The input, and what would become of it."""
    analysis = call.read()
    from kubectl_policy.comparison import what_if  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.model.cascade import cascade  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.sources import load_manifests  # noqa: PLC0415 (see Call.read)

    read_in = load_manifests(filename, namespace=call.namespace) if filename else None
    policies = [retargeted(analysis, word, call.namespace) for word in retarget or ()]
    applied = [*(in_scope(resource, analysis.index) for resource in (read_in.resources if read_in else ())), *policies]
    deleted = deletions(analysis.index, delete or (), call.namespace)
    _refuse_twice(deleted, applied, policies)
    return what_if(analysis, applied=applied, deleted=cascade(analysis.index, deleted), unread=read_in)


def _refuse_twice(
    deleted: "Iterable[ObjectRef]", applied: "Sequence[Resource]", policies: "Sequence[Resource]"
) -> None:
    """Refuse what cannot be meant: one policy with two targets, or changed in two ways at once."""
    refs = [*deleted, *(resource.ref for resource in applied)]
    twice = next((policy.ref for policy in policies if refs.count(policy.ref) > 1), None)
    if twice:
        raise UsageError(
            f"{twice} is to be changed in two ways at once", "give it one target, and leave it in -f alone"
        )


def deletions(index: "Index", words: "Sequence[str]", namespace: str) -> "tuple[ObjectRef, ...]":
    """The objects that are meant by `TYPE/NAME`, each once.

    Raises `UsageError` for anything else, and `NotFoundError` where there is no such object in the namespace.
    """
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see Call.read)

    pairs = [_type_and_name(word, f'--delete takes TYPE/NAME, not "{word}"', _DELETE_EXAMPLE) for word in words]
    return tuple(dict.fromkeys(find(index, *pair, namespace) for pair in pairs))


def retargeted(analysis: "Analysis", word: str, namespace: str) -> "Resource":
    """A policy as it would be if it had the one target that `POLICY=TARGET` says, in the field that it uses now.

    Both are looked for in the namespace, unless their kind is cluster-scoped. Raises `NotFoundError` where one of them
    is not there, and `UsageError` for anything else than that, for what is no policy or names no targets of its own,
    and for a section that the target has not.
    """
    from dataclasses import replace  # noqa: PLC0415 (see Call.read)

    from kubectl_policy.model import NodeRef  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see Call.read)

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
    from dataclasses import replace  # noqa: PLC0415 (see Call.read)

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
    from kubectl_policy.topology.references import ROUTES, unnamed_rule  # noqa: PLC0415 (see Call.read)

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
    from kubectl_policy.attachment.references import target_references  # noqa: PLC0415 (see Call.read)

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
    from kubectl_policy.model.fields import mapping_at, value_at  # noqa: PLC0415 (see Call.read)

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
    from kubectl_policy.model.fields import FieldPath, value_at  # noqa: PLC0415 (see Call.read)

    now = value_at(raw, field)
    as_list = isinstance(now, list) if now is not None else field.endswith("s")
    edited: Json = raw
    for path in profile.target_fields:
        where = FieldPath.parse(path)
        edited = where.put(edited, [reference] if as_list else reference) if path == field else where.remove(edited)
    return cast("Mapping[str, Json]", edited)
