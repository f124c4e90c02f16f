"""Candidates for the values of options: those that an option declares, and names of what exists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from kubectl_policy.cli.completion.arguments import named_objects, object_tiers, type_tiers
from kubectl_policy.cli.completion.objects import ALL_ROLES
from kubectl_policy.cli.completion.offer import (
    DIRECTORIES,
    FILES,
    MANIFESTS,
    NOTHING,
    Offer,
    offer,
    offer_in_list,
    plain_tier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.cli.completion.known import KnownInput
    from kubectl_policy.cli.completion.line import CommandLine, KnownOption
    from kubectl_policy.cli.completion.offer import Tiers

# The id, name and summary of each rule of `lint`, whose import would take longer than a TAB may.
RULES_TABLE: Final = Path(__file__).with_name("rules.tsv")


def offer_value(option: KnownOption, line: CommandLine, known: KnownInput) -> Offer:
    """Offer values of the option under the cursor; nothing where the value is free text."""
    name = option.names[0]
    choices = _choices(line.command, option)
    if choices:
        return offer(line.prefix, plain_tier(choices))
    if name not in _VALUES:
        return _BY_METAVAR.get(option.metavar, NOTHING)
    tiers = _VALUES[name](line, known)
    if isinstance(tiers, Offer):
        return tiers
    return offer_in_list(line.prefix, *tiers) if name in _LISTS else offer(line.prefix, *tiers)


def _choices(command: str, option: KnownOption) -> Sequence[str]:
    """Return the values that an option allows, `[a|b]`; for the `--output` of answers also the templates."""
    if not option.metavar.startswith("["):
        return ()
    choices = option.metavar.strip("[]").split("|")
    if option.names[0] != "--output" or command == "version":
        return choices
    from kubectl_policy.render.output.formats import TEMPLATES

    return (*choices, *(f"{name}=" for name in TEMPLATES))


def rule_tiers() -> Tiers:
    """Return the ids of all rules of `lint`, and then their names."""
    rows = [line.split("\t") for line in RULES_TABLE.read_text("utf-8").splitlines()]
    ids = [(id_, f"{name}: {summary}") for id_, name, summary in rows]
    return [ids, [(name, summary) for _, name, summary in rows]]


def _sections(line: CommandLine, known: KnownInput) -> Tiers:
    """Return the sections of the last object among the arguments."""
    objects = named_objects(line)
    namespace = line.value("target_namespace") or known.namespace
    return [plain_tier(known.objects.sections(*objects[-1], namespace))] if objects else []


def _kinds(line: CommandLine, known: KnownInput) -> Tiers:
    """Return kinds for `--kind`: of any object where the value is a TYPE, else of policies."""
    metavar = line.option.metavar if line.option else ""
    return type_tiers(known.kinds(*ALL_ROLES) if metavar.startswith("TYPE") else known.kinds("policies"))


def _fields(line: CommandLine, known: KnownInput) -> Tiers:
    """Return fields of the policies that `--kind` selects, as deep as the field that is typed."""
    kinds = [kind for kinds in line.values.get("kind", ()) for kind in kinds.split(",") if kind]
    depth = line.prefix.rpartition(",")[2].count(".")
    return [plain_tier({field for field in known.objects.fields(kinds) if field.count(".") == depth})]


def _enforcement_states(_: CommandLine, __: KnownInput) -> Tiers:
    from kubectl_policy.resolution.enforcement import ENFORCEMENT

    return [plain_tier(ENFORCEMENT)]


def _columns(line: CommandLine, known: KnownInput) -> Tiers:
    """Return the columns of the list that the arguments name."""
    from kubectl_policy.questions.shared.selection import Listing, type_named
    from kubectl_policy.render.listing.columns import columns_of

    types = line.arguments[0] if line.arguments else "policies"
    type_ = type_named(known.analysis, types.partition("/")[0].partition(",")[0])
    columns = columns_of(Listing(type=type_, namespace="", rows=(), elsewhere=(), unseen=()))
    return [plain_tier(column.title.lower().replace(" ", "-") for column in columns)]


def _settings(line: CommandLine, _: KnownInput) -> Tiers:
    """Return the settings of controllers that profiles declare."""
    from kubectl_policy.cli.config import read_config
    from kubectl_policy.profiles.load import built_in_groups, built_in_profiles

    profiles = read_config(line.values.get("profiles"), ()).profiles
    built_in = (profile for group in built_in_groups() for profile in built_in_profiles(group).values())
    return [plain_tier({f"{name}=" for profile in (*profiles, *built_in) for name in profile.settings})]


def _severities(line: CommandLine, _: KnownInput) -> Tiers:
    """Return the rules of `lint`, and after `=` the severities."""
    rule, equals, _severity = line.prefix.partition("=")
    if not equals:
        return [[(f"{name}=", description) for name, description in tier] for tier in rule_tiers()]
    from kubectl_policy.lint.settings import Level

    return [plain_tier(f"{rule}={level}" for level in get_args(Level))]


def _lint_formats(line: CommandLine, _: KnownInput) -> Tiers | Offer:
    """Return the formats of `lint`, and after `=` files."""
    if "=" in line.prefix:
        return FILES
    from kubectl_policy.render.lint import LINT

    return [plain_tier(word for name in LINT.formats for word in (name, f"{name}="))]


def _retargeted(line: CommandLine, known: KnownInput) -> Tiers:
    """Return policies, and after `=` their new targets."""
    policy, equals, target = line.prefix.partition("=")
    if equals:
        return object_tiers(known, target, ["targets"], before=f"{policy}=")
    return object_tiers(known, policy, ["policies"])


def _kubeconfig_names(line: CommandLine, known: KnownInput) -> Tiers:
    return [plain_tier(known.objects.kubeconfig(line.option.names[0] if line.option else ""))]


def _namespaces(_: CommandLine, known: KnownInput) -> Tiers:
    return [plain_tier(known.objects.namespaces())]


_VALUES: Final[Mapping[str, Callable[[CommandLine, KnownInput], Tiers | Offer]]] = {
    "--assume-exists": lambda _, known: type_tiers(known.kinds(*ALL_ROLES)),
    "--cluster": _kubeconfig_names,
    "--context": _kubeconfig_names,
    "--default-namespace": _namespaces,
    "--delete": lambda line, known: object_tiers(known, line.prefix, ALL_ROLES),
    "--enforcement": _enforcement_states,
    "--field": _fields,
    "--filename": lambda _, __: MANIFESTS,
    "--format": _lint_formats,
    "--ignore": lambda _, __: rule_tiers(),
    "--kind": _kinds,
    "--namespace": _namespaces,
    "--policy-kind": lambda _, known: type_tiers(known.kinds("policies")),
    "--profiles": lambda _, __: MANIFESTS,
    "--retarget": _retargeted,
    "--section": _sections,
    "--select": lambda _, __: rule_tiers(),
    "--setting": _settings,
    "--severity": _severities,
    "--sort-by": _columns,
    "--target-namespace": _namespaces,
    "--user": _kubeconfig_names,
}
# Options that take several values with commas.
_LISTS: Final = frozenset({"--enforcement", "--field", "--ignore", "--kind", "--policy-kind", "--select"})
_BY_METAVAR: Final[Mapping[str, Offer]] = {
    "DIR": DIRECTORIES,
    "FILE": FILES,
    "FOLDER": DIRECTORIES,
    "PATH": FILES,
    "REV|PATH": FILES,
    "STATE": FILES,
}
