"""Complete the text under the cursor: a command, an option, the value of an option, or an argument.

The protocol is that of cobra's hidden command `__complete`. kubectl (`plugin_completion.go`) expects it of the program
`kubectl_complete-NAME` for its plugin NAME: a line for each candidate, with `<TAB>` and a description if it has one,
and last a line `:DIRECTIVE`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, get_args

from kubectl_policy.cli.completion import SCRIPTS
from kubectl_policy.cli.syntax import COMMANDS, parse_line, split_pair
from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kubectl_policy.cli.completion.objects import KindUse, ManifestObjects
    from kubectl_policy.cli.syntax import CommandLine
    from kubectl_policy.model.kinds import KindNames

# A text with its description, which may be empty.
Candidate: TypeAlias = tuple[str, str]
# Candidates of the first tier that has any with the prefix are offered.
Tiers: TypeAlias = "Sequence[Iterable[Candidate]]"
Completer: TypeAlias = "Callable[[CommandLine, ManifestObjects], Tiers | Offer]"
# The characters of candidates. Shells evaluate what they are given, some of them even when they only list it.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=[]")
_NO_SPACE, _NO_FILES, _EXTENSIONS, _DIRECTORIES = 2, 4, 8, 16
# After these characters the user types more of the same argument.
_UNFINISHED: Final = ("/", "=")


class Offer(NamedTuple):
    """Candidates for the text under the cursor, with their descriptions, and cobra's directive for the shell."""

    candidates: Mapping[str, str]
    directive: int

    def text(self) -> str:
        """Return the lines of the protocol."""
        lines = [
            f"{candidate}\t{_printable(description)}" if description else candidate
            for candidate, description in self.candidates.items()
        ]
        return "".join(f"{line}\n" for line in (*lines, f":{self.directive}"))


NOTHING: Final = Offer({}, _NO_FILES)
FILES: Final = Offer({}, 0)
DIRECTORIES: Final = Offer({}, _DIRECTORIES)
MANIFESTS: Final = Offer(dict.fromkeys(("yaml", "yml", "json"), ""), _EXTENSIONS)


def offer(prefix: str, tiers: Tiers, *, in_list: bool = False) -> Offer:
    """Offer the candidates with a prefix of the first tier that has any; without any, neither candidates nor files.

    In a list with commas, candidates are for its last item, except those that are in the list. A candidate with other
    characters than plain ones is dropped, so that no name of an object is a command to a shell.
    """
    before, comma, _ = prefix.rpartition(",") if in_list else ("", "", "")
    listed = before.split(",") if comma else []
    for tier in tiers:
        candidates = {
            text: description
            for name, description in tier
            if name and name not in listed
            if (text := f"{before}{comma}{name}").startswith(prefix) and _PLAIN.issuperset(text)
        }
        if candidates:
            is_unfinished = all(text.endswith(_UNFINISHED) for text in candidates)
            return Offer(candidates, _NO_FILES | (_NO_SPACE if is_unfinished else 0))
    return NOTHING


def plain_tier(names: Iterable[str], start: str = "", without: Collection[str] = ()) -> list[Candidate]:
    """Return names as candidates after a `start`, sorted, except those that would be options or are in `without`."""
    texts = [f"{start}{name}" for name in sorted(names) if not name.startswith("-")]
    return [(text, "") for text in texts if text not in without]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


# The id, name and summary of each rule of `lint`, whose import would take longer than a TAB may.
RULES_TABLE: Final = Path(__file__).with_name("rules.tsv")
_HELP: Final = {"-h": "Show this message and exit.", "--help": "Show this message and exit."}
_PROGRAM_OPTIONS: Final = {"--version": "Print the version and exit.", **_HELP}
_ALL: Final[Sequence[KindUse]] = ("policies", "targets", "unrelated")
_MANAGED: Final[Sequence[KindUse]] = ("policies", "targets")


def complete(arguments: Sequence[str], deadline: float) -> Offer:
    """Return candidates for the last of the arguments after `kubectl policy`.

    Programs may run until the deadline, by `time.monotonic`. Nothing is offered if the input cannot be read, or if the
    arguments before the cursor name something that does not exist.
    """
    first, *rest = arguments or ("",)
    if not rest:
        commands = [(name, entry.summary) for name, entry in COMMANDS.items()]
        return offer(first, [_PROGRAM_OPTIONS.items() if first.startswith("-") else commands])
    if first not in COMMANDS:
        return NOTHING
    line = parse_line(first, rest)
    if line.may_be_option and line.prefix.startswith("-"):
        descriptions = {
            name: option.help
            for option in line.options
            if option.number == "repeatable" or option.parameter not in line.values
            for name in option.names
        }
        return offer(line.prefix, [(descriptions | _HELP).items()])
    try:
        tiers = _completer(line)(line, objects_for(line, deadline))
    except PolicyError:
        return NOTHING
    takes_list = line.option.names[0] in _LISTS if line.option else line.command == "get" and _is_type(line)
    return tiers if isinstance(tiers, Offer) else offer(line.prefix, tiers, in_list=takes_list)


def objects_for(line: CommandLine, deadline: float) -> ManifestObjects:
    """Return the input of a line; a cluster is asked until the deadline, by `time.monotonic`."""
    # To import these takes time that options do not need.
    from kubectl_policy.cli.completion.objects import ManifestObjects
    from kubectl_policy.cli.config import offline_paths

    paths = list(line.values.get("offline", ()))
    # `lint` takes manifests as its arguments.
    if line.command == "lint":
        paths += [*line.arguments, *line.values.get("filename", ())]
    paths = paths or offline_paths()
    if paths:
        return ManifestObjects(line, paths)
    from kubectl_policy.cli.completion.objects import ClusterObjects

    return ClusterObjects(line, deadline)


def _completer(line: CommandLine) -> Completer:
    """Return what completes the option or the argument under the cursor; nothing is offered for free text."""
    if not line.option:
        return ARGUMENTS.get(line.command, lambda _, __: NOTHING)
    metavar = line.option.metavar
    if metavar.startswith("["):
        return _choices
    return _VALUES.get(line.option.names[0]) or (lambda _, __: _BY_METAVAR.get(metavar, NOTHING))


def _choices(line: CommandLine, _: ManifestObjects) -> Tiers | Offer:
    """Return the values that the option lists, and the template formats of answers, some of which take files."""
    choices = line.option.metavar.strip("[]").split("|") if line.option else []
    if line.option and line.option.parameter == "output" and line.command != "version":
        from kubectl_policy.render.output.formats import TEMPLATE_FILES, TEMPLATES

        kind, equals, _template = line.prefix.partition("=")
        if equals:
            return FILES if kind in TEMPLATE_FILES else NOTHING
        choices += [f"{template}=" for template in (*TEMPLATES, *TEMPLATE_FILES)]
    return [plain_tier(choices)]


def _types(kinds: Sequence[KindNames], *, plurals: bool = False, end: str = "") -> list[list[Candidate]]:
    """Return names of kinds: singulars or plurals, then the reverse and short names, last those with groups."""
    tiers: list[list[Candidate]] = [[], [], []]
    for names in kinds:
        description, group = str(names.group_kind), names.group_kind.group
        usual, unusual = (names.plural, names.singular) if plurals else (names.singular, names.plural)
        tiers[0].append((f"{usual}{end}", description))
        tiers[1] += [(f"{name}{end}", description) for name in (unusual, *names.short_names)]
        tiers[2] += [(f"{name}.{group}{end}", description) for name in (usual, unusual) if group]
    return tiers


def qualified_names(
    objects: ManifestObjects,
    text: str,
    roles: Sequence[KindUse],
    *,
    namespace: str = "",
    listed: Collection[str] = (),
) -> list[list[Candidate]]:
    """Return `TYPE/NAME` for a typed text, of objects whose kinds have some roles, except those that are listed."""
    type_name, slash, name = text.partition("/")
    if not slash:
        return _types(objects.kinds(*roles), end="/")
    typed_namespace, has_namespace, _ = name.partition("/")
    names, elsewhere = objects.names(type_name, typed_namespace if has_namespace else namespace or objects.namespace)
    start = f"{text.rpartition('/')[0]}/"
    return [plain_tier(names, start, listed), plain_tier(elsewhere, f"{type_name}/", listed)]


def _is_type(line: CommandLine) -> bool:
    """Whether a type is under the cursor, and no name yet."""
    return not line.arguments and "/" not in line.prefix


def _names(line: CommandLine, objects: ManifestObjects, roles: Sequence[KindUse] = _MANAGED) -> Tiers:
    """Return `NAME` after `TYPE`, else `TYPE/NAME`."""
    if not line.arguments or "/" in line.arguments[0]:
        return qualified_names(objects, line.prefix, roles, listed=line.arguments)
    types, *listed = line.arguments
    return [plain_tier(names, without=listed) for names in objects.names(types, objects.namespace)]


def _objects(
    line: CommandLine, objects: ManifestObjects, roles: Sequence[KindUse] = _MANAGED, *, single: bool = False
) -> Tiers:
    """Return `TYPE NAME...` or `TYPE/NAME...`, of kinds with some roles, else of any kind."""
    if single and (len(line.arguments) > 1 or "/" in "".join(line.arguments)):
        return []
    if _is_type(line):
        return [*_types(objects.kinds(*roles)), *_types(objects.kinds(*_ALL))]
    return _names(line, objects, roles)


def _listed_types(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return `TYPE[,TYPE]` and names, or `TYPE/NAME...`, for `get`."""
    if not _is_type(line):
        return _names(line, objects)
    from kubectl_policy.questions.shared.selection import OWN_TYPES

    general = plain_tier(("effective", *(name for name in OWN_TYPES if name.endswith("s"))))
    plurals, *longer = _types(objects.kinds(*_MANAGED), plurals=True)
    return [[*general, *plurals], *longer, *_types(objects.kinds("unrelated"), plurals=True)]


def _compared_types(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return a type whose status controllers report, and names, or `TYPE/NAME...`, for `status`."""
    if not _is_type(line):
        return _names(line, objects)
    from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, ROUTES

    targets = [names for names in objects.kinds("targets") if names.group_kind in {*ROUTES, *LISTENER_HOLDERS}]
    plurals, *longer = _types([*objects.kinds("policies"), *targets], plurals=True)
    return [[*plain_tier(("policies", "routes")), *plurals], *longer]


def _policy_and_target(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return `TYPE/NAME` of a policy, and then of an object; after a type alone its names."""
    pairs, type_name = split_pair(line.arguments)
    if len(pairs) > 1:
        return []
    namespace = line.value("target_namespace") if pairs else ""
    if type_name:
        return [plain_tier(names) for names in objects.names(type_name, namespace or objects.namespace)]
    return qualified_names(objects, line.prefix, ["targets"] if pairs else ["policies"], namespace=namespace)


ARGUMENTS: Final[Mapping[str, Completer]] = {
    "blast-radius": partial(_objects, roles=_ALL, single=True),
    "completion": lambda line, _: [] if line.arguments else [plain_tier(SCRIPTS)],
    "describe": _objects,
    "diff": lambda line, _: FILES if len(line.arguments) < 2 else NOTHING,  # noqa: PLR2004 (two states)
    "explain": lambda line, objects: [] if line.arguments else _types(objects.kinds("policies")),
    "get": _listed_types,
    "graph": _objects,
    "history": partial(_objects, roles=["targets"], single=True),
    "lint": lambda _, __: FILES,
    "status": _compared_types,
    "why-not": _policy_and_target,
}


def rule_tiers(end: str = "") -> Tiers:
    """Return the ids of all rules of `lint`, and then their names."""
    rows = [line.split("\t") for line in RULES_TABLE.read_text("utf-8").splitlines()]
    ids = [(f"{id_}{end}", f"{name}: {summary}") for id_, name, summary in rows]
    return [ids, [(f"{name}{end}", summary) for _, name, summary in rows]]


def _sections(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return the sections of the last object among the arguments."""
    arguments = line.arguments
    if arguments and "/" not in arguments[0]:
        arguments = [f"{arguments[0]}/{name}" for name in arguments[1:]]
    type_name, _, name = arguments[-1].partition("/") if arguments else ("", "", "")
    namespace = line.value("target_namespace") or objects.namespace
    return [plain_tier(objects.sections(type_name, name, namespace))] if name else []


def _fields(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return fields of the policies that `--kind` selects, as deep as the field that is typed."""
    kinds = [kind for kinds in line.values.get("kind", ()) for kind in kinds.split(",") if kind]
    depth = line.prefix.rpartition(",")[2].count(".")
    return [plain_tier({field for field in objects.fields(kinds) if field.count(".") == depth})]


def _enforcement_states(_: CommandLine, __: ManifestObjects) -> Tiers:
    from kubectl_policy.resolution.enforcement import ENFORCEMENT

    return [plain_tier(ENFORCEMENT)]


def _field_conditions(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return the fields that every kind can be selected by, and after `=` names and namespaces."""
    before, comma, condition = line.prefix.rpartition(",")
    field, equals, _value = condition.partition("=")
    start = f"{before}{comma}{field}="
    if not equals:
        return [[(f"{before}{comma}{field}=", "") for field in ("metadata.name", "metadata.namespace")]]
    if field == "metadata.namespace":
        return [plain_tier(objects.namespaces(), start)]
    if field != "metadata.name" or not line.arguments:
        return []
    return [plain_tier(objects.names(line.arguments[0], line.value("namespace"))[0], start)]


def _severities(line: CommandLine, _: ManifestObjects) -> Tiers:
    """Return the rules of `lint`, and after `=` the severities."""
    rule, equals, _severity = line.prefix.partition("=")
    if not equals:
        return rule_tiers("=")
    from kubectl_policy.lint.settings import Level

    return [plain_tier(f"{rule}={level}" for level in get_args(Level))]


def _lint_formats(line: CommandLine, _: ManifestObjects) -> Tiers | Offer:
    """Return the formats of `lint`, and after `=` files."""
    if "=" in line.prefix:
        return FILES
    from kubectl_policy.render.lint import LINT

    return [plain_tier(text for name in LINT.formats for text in (name, f"{name}="))]


def _retargeted(line: CommandLine, objects: ManifestObjects) -> Tiers:
    """Return policies, and after `=` their new targets."""
    policy, equals, target = line.prefix.partition("=")
    if not equals:
        return qualified_names(objects, policy, ["policies"])
    tiers = qualified_names(objects, target, ["targets"])
    return [[(f"{policy}={name}", description) for name, description in tier] for tier in tiers]


def _kubeconfig_names(line: CommandLine, objects: ManifestObjects) -> Tiers:
    return [plain_tier(objects.kubeconfig(line.option.names[0] if line.option else ""))]


def _namespaces(_: CommandLine, objects: ManifestObjects) -> Tiers:
    return [plain_tier(objects.namespaces())]


_VALUES: Final[Mapping[str, Completer]] = {
    "--assume-exists": lambda _, objects: _types(objects.kinds(*_ALL)),
    "--cluster": _kubeconfig_names,
    "--context": _kubeconfig_names,
    "--default-namespace": _namespaces,
    "--delete": lambda line, objects: qualified_names(objects, line.prefix, _ALL),
    "--enforcement": _enforcement_states,
    "--field": _fields,
    "--field-selector": _field_conditions,
    "--filename": lambda _, __: MANIFESTS,
    "--format": _lint_formats,
    "--ignore": lambda _, __: rule_tiers(),
    "--kind": lambda line, objects: _types(
        objects.kinds(*_ALL) if line.command == "graph" else objects.kinds("policies")
    ),
    "--label-columns": lambda line, objects: [plain_tier(objects.labels(",".join(line.arguments[:1])))],
    "--namespace": _namespaces,
    "--policy-kind": lambda _, objects: _types(objects.kinds("policies")),
    "--profiles": lambda _, __: MANIFESTS,
    "--retarget": _retargeted,
    "--section": _sections,
    "--select": lambda _, __: rule_tiers(),
    "--severity": _severities,
    "--target-namespace": _namespaces,
    "--user": _kubeconfig_names,
}
# Options that take several values with commas.
_LISTS: Final = frozenset(
    {"--enforcement", "--field", "--ignore", "--kind", "--label-columns", "--policy-kind", "--select"}
)
_BY_METAVAR: Final[Mapping[str, Offer]] = {
    "DIR": DIRECTORIES,
    "FILE": FILES,
    "FOLDER": DIRECTORIES,
    "PATH": FILES,
    "REV|PATH": FILES,
    "STATE": FILES,
}
