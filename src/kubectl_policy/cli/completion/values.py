"""The values of options: those that an option declares, and names of what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args, get_origin

from kubectl_policy.cli.completion.objects import ANY, listed, named_objects, object_of, plain, types
from kubectl_policy.cli.completion.protocol import FILES, FOLDERS, NOTHING, files, offered
from kubectl_policy.cli.parameters import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_policy.cli.completion.protocol import Offer
    from kubectl_policy.cli.completion.typed import Typed
    from kubectl_policy.cli.completion.world import World
    from kubectl_policy.cli.parameters import Parameter


def value_of(option: Parameter, line: Typed, world: World) -> Offer:
    """What may be the value of an option; nothing where that can be anything."""
    choices = _choices(option)
    if choices:
        return offered(plain(choices), to=line.completed)
    for name in option.names:
        if name in _VALUES:
            return _VALUES[name](line, world)
    return _PLACES.get(option.declared.metavar or "", NOTHING)


def _choices(option: Parameter) -> Iterable[str]:
    """The values that an option declares, by its type or as `[a|b]`, and the templates that `--output` also takes."""
    if get_origin(option.type) is Literal:
        return get_args(option.type)
    said = option.declared.metavar or ""
    if not (isinstance(option.declared, Option) and said.startswith("[") and said.endswith("]")):
        return ()
    choices = said[1:-1].split("|")
    if option.name != "output":
        return choices
    from kubectl_policy.render.output.formats import TEMPLATES

    return (*choices, *(f"{name}=" for name in TEMPLATES))


def _namespaces(line: Typed, world: World) -> Offer:
    return offered(plain(world.known.namespaces()), to=line.completed)


def _sections(line: Typed, world: World) -> Offer:
    """The sections of the object that is asked about: of the last one."""
    *_, (type_name, name) = (("", ""), *named_objects(line))
    if not name:
        return NOTHING
    namespace = line.last("target_namespace") or world.namespace
    return offered(plain(world.known.sections(type_name, name, namespace)), to=line.completed)


def _kinds_of_policies(line: Typed, world: World) -> Offer:
    return listed(line, *types(world.kinds("policies")))


def _kinds_or_types(line: Typed, world: World) -> Offer:
    """Kinds of policies or, of what help calls types, of anything."""
    is_of_any = line.option is not None and (line.option.declared.metavar or "").startswith("TYPE")
    return listed(line, *types(world.kinds(*ANY))) if is_of_any else _kinds_of_policies(line, world)


def _compared(_: Typed, __: World) -> Offer:
    return FILES


def _rules(line: Typed, _: World) -> Offer:
    """Rules of `lint`, by their ids or else by their names."""
    from kubectl_policy.cli.completion.rules import called

    return listed(line, *called())


def _severities(line: Typed, _: World) -> Offer:
    """A rule, and after `=` how bad what it finds is."""
    rule, equals, _level = line.completed.partition("=")
    if equals:
        from kubectl_policy.lint.settings import Level

        return offered(plain(f"{rule}={level}" for level in get_args(Level)), to=line.completed)
    from kubectl_policy.cli.completion.rules import called

    return offered(*([(f"{name}=", said) for name, said in tier] for tier in called()), to=line.completed)


def _formats(line: Typed, _: World) -> Offer:
    """A format of `lint`, and after `=` a file."""
    if "=" in line.completed:
        return FILES
    from kubectl_policy.render.lint import LINT

    return offered(plain(each for name in LINT.formats for each in (name, f"{name}=")), to=line.completed)


def _kinds(line: Typed, world: World) -> Offer:
    return offered(*types(world.kinds(*ANY)), to=line.completed)


def _fields(line: Typed, world: World) -> Offer:
    """The fields of policies of those kinds that are asked for, as deep as what is typed."""
    kinds = [word for words in line.given.get("kind", ()) for word in words.split(",") if word]
    depth = line.completed.rpartition(",")[2].count(".")
    return listed(line, plain({field for field in world.known.fields(kinds) if field.count(".") == depth}))


def _states(line: Typed, _: World) -> Offer:
    from kubectl_policy.resolution.enforcement import ENFORCEMENT

    return listed(line, plain(ENFORCEMENT))


def _columns(line: Typed, world: World) -> Offer:
    """The columns of the list that is asked for."""
    from kubectl_policy.questions.shared.selection import Listing, type_named
    from kubectl_policy.render.listing.columns import columns_of

    words = line.words[0] if line.words else "policies"
    type_ = type_named(world.analysis, words.partition("/")[0].partition(",")[0])
    columns = columns_of(Listing(type=type_, namespace="", rows=(), elsewhere=(), unseen=()))
    return offered(plain(column.title.lower().replace(" ", "-") for column in columns), to=line.completed)


def _settings(line: Typed, _: World) -> Offer:
    """The names that profiles give to settings of controllers."""
    from kubectl_policy.cli.config import known
    from kubectl_policy.profiles.load import built_in_groups, built_in_profiles

    own = known(line.given.get("profiles"), ()).profiles
    built_in = (profile for group in built_in_groups() for profile in built_in_profiles(group).values())
    return offered(plain({f"{name}=" for each in (*own, *built_in) for name in each.settings}), to=line.completed)


def _deleted(line: Typed, world: World) -> Offer:
    return object_of(world, line.completed, ANY)


def _retargeted(line: Typed, world: World) -> Offer:
    """A policy, and after `=` its new target."""
    policy, equals, target = line.completed.partition("=")
    if equals:
        return object_of(world, target, ["targets"], before=f"{policy}=")
    return object_of(world, policy, ["policies"])


def _in_kubeconfig(line: Typed, world: World) -> Offer:
    return offered(plain(world.known.kubeconfig(line.option.names[0] if line.option else "")), to=line.completed)


def _manifests(_: Typed, __: World) -> Offer:
    return files("yaml", "yml", "json")


_VALUES: Final[Mapping[str, Callable[[Typed, World], Offer]]] = {
    "--assume-exists": _kinds,
    "--cluster": _in_kubeconfig,
    "--context": _in_kubeconfig,
    "--context-from": _compared,
    "--default-namespace": _namespaces,
    "--delete": _deleted,
    "--diff": _compared,
    "--diff-base": _compared,
    "--enforcement": _states,
    "--field": _fields,
    "--filename": _manifests,
    "--format": _formats,
    "--ignore": _rules,
    "--kind": _kinds_or_types,
    "--policy-kind": _kinds_of_policies,
    "--namespace": _namespaces,
    "--profiles": _manifests,
    "--retarget": _retargeted,
    "--section": _sections,
    "--select": _rules,
    "--setting": _settings,
    "--severity": _severities,
    "--sort-by": _columns,
    "--target-namespace": _namespaces,
    "--user": _in_kubeconfig,
}
# By what help calls it.
_PLACES: Final[Mapping[str, Offer]] = {"DIR": FOLDERS, "FILE": FILES, "FOLDER": FOLDERS, "PATH": FILES}
