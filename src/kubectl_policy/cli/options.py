"""What commands have in common: options, reading what these name, showing the answer, and how to end."""

import inspect
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, TypeVar, cast

import typer

from kubectl_policy.errors import FOUND, INCOMPLETE, UsageError
from kubectl_policy.render.output.formats import TEMPLATES, Forms, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from contextlib import AbstractContextManager

    from kubectl_policy import InputOptions
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, ObjectRef, Origin
    from kubectl_policy.model.assumptions import AssumedObjects
    from kubectl_policy.questions.describe.surroundings import Unattached
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.shared.selection import Selection
    from kubectl_policy.questions.shared.unseen import Unseen
    from kubectl_policy.sources import Lines, Progress

# Options that some commands share.
AllowIncomplete: TypeAlias = Annotated[
    bool, typer.Option("--allow-incomplete", help="Go by what could be seen, even if that is not all that matters.")
]
AllNamespaces: TypeAlias = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="List what is in any namespace.")
]
ShowAll: TypeAlias = Annotated[bool, typer.Option("--show-all", help="Show all of long lists and values.")]
Selector: TypeAlias = Annotated[
    str, typer.Option("--selector", "-l", metavar="QUERY", help="List what has these labels, as for kubectl.")
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # Not a `value`: `--help` does without the model.
class Call:
    """How a command was called: its name, and the options that all commands take, each of which is a field."""

    program: str = ""
    offline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="Read manifests from a file, a folder, a glob, or - for standard input. Repeatable."
        ),
    ] = None
    namespace: Annotated[str, typer.Option("--namespace", "-n", metavar="NAME", help="Namespace to look in.")] = (
        "default"
    )
    default_namespace: Annotated[str, typer.Option(metavar="NAME", help="Namespace of manifests that name none.")] = (
        "default"
    )
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave out files and folders, as a .gitignore does. Repeatable."),
    ] = None
    cluster: Annotated[
        str, typer.Option(metavar="NAME", help="Of a tree for several clusters, read what is for this one.")
    ] = ""
    variables: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="VARIABLE=VALUE", help="Fill in ${VARIABLE} in the input. Repeatable."),
    ] = None
    render: Annotated[
        bool, typer.Option("--render", help="Apply Kustomize, Flux, Argo CD and Helm first, by their own programs.")
    ] = False
    output: Annotated[str, typer.Option("--output", "-o", help="Output format.")] = "tree"
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="Say what is known of policy kinds: a file or a folder. Repeatable; later ones win."
        ),
    ] = None
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Say how a controller is set up, by a name in its profile. Repeatable."
        ),
    ] = None
    complete: Annotated[
        bool, typer.Option("--complete", help="Take it that what is not in the input does not exist.")
    ] = False
    assume_exists: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND[/NAME]",
            help="Take it that objects exist which are not in the input: all of a kind, or one. Repeatable.",
        ),
    ] = None
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colour trees and tables.")] = "auto"

    def read(self, *, optional: bool = False) -> "Analysis":
        """The analysis of what the options name; of nothing where that is `optional` and they name nothing.

        Raises `PolicyError` if they name nothing that can be read.
        """
        paths = self.paths(optional=optional)
        from kubectl_policy import Snapshot, analyze, load_manifests
        from kubectl_policy.cli.config import known

        told = known(self.profiles, self.setting)
        snapshot = Snapshot()
        if paths:
            if "-" in paths:
                mention_waiting()
            with self.progress() as progress:
                snapshot = load_manifests(paths, options=self.input_options(), progress=progress, lines=self.lines)
        return analyze(snapshot, profiles=told.profiles, implementation=told.implementation)

    def paths(self, *, optional: bool = False) -> "list[str]":
        """The files and folders that are to be read. Raises `UsageError` for none, unless that is `optional`."""
        from kubectl_policy.cli.config import offline_paths

        paths = self.offline or offline_paths()
        if not (paths or optional):
            raise UsageError("live clusters are not supported yet", "add --offline PATH, or set KUBECTL_POLICY_OFFLINE")
        return list(paths)

    @cached_property
    def lines(self) -> "Lines":
        """The lines of fields in what the command reads."""
        from kubectl_policy.sources import Lines

        return Lines()

    def progress(self) -> "AbstractContextManager[Progress | None]":
        """What shows how far the reading is, where that may take a while."""
        from kubectl_policy.cli import terminal

        return terminal.progress("rendering") if self.render else nullcontext()

    def input_options(self) -> "InputOptions":
        """How the input is to be read. Raises `UsageError` for a value without a name that a variable may have."""
        from kubectl_policy import InputOptions

        values: dict[str, str] = {}
        for assignment in self.variables or ():
            name, equals, value = assignment.partition("=")
            if not (equals and name.isascii() and name.isidentifier()):
                raise UsageError(f'"{assignment}" gives no variable a value', "write --set VARIABLE=VALUE")
            values[name] = value
        return InputOptions(
            namespace=self.default_namespace,
            complete=self.complete,
            assumed=tuple(map(assumption, self.assume_exists or ())),
            exclude=tuple(self.exclude or ()),
            cluster=self.cluster,
            values=values,
            render=self.render,
        )

    def show(
        self,
        forms: Forms,
        answer: object,
        *states: "Analysis",
        problems: "Collection[Diagnostic]" = (),
        unseen: "Collection[Unseen]" = (),
        headers: bool = True,
        namespaces: bool = False,
        everything: bool = False,
    ) -> None:
        """Show an answer about some states, and on standard error what its format cannot say.

        `problems` and `unseen` are those that the answer holds; for the others see `View`.
        """
        from kubectl_policy.cli import terminal
        from kubectl_policy.render.output.formats import remarks_on, render

        view = replace(
            terminal.view(self.program, *self._repeated()),
            headers=headers,
            namespaces=namespaces,
            everything=everything,
            coloured=format_of(self.output).styled and terminal.wants_colour(self.color),
        )
        shown = render(forms, answer, self.output, view)
        terminal.show(shown, view.width, coloured=view.coloured)
        terminal.complain(*remarks_on(forms, answer, self.output, empty=not shown, complete=not unseen))
        whole = format_of(self.output).tells == "everything"
        for state in states:
            mention_the_rest(state, problems if whole else (), unseen if whole else ())
            mention_what_was_not_applied(state, rendered=self.render)
            mention_what_was_assumed(state)

    def _repeated(self) -> list[str]:
        """The options that a command that is suggested next needs to see the same."""
        options = {
            "--offline": self.offline,
            "--exclude": self.exclude,
            "--cluster": [self.cluster] if self.cluster else None,
            "--set": self.variables,
            "--profiles": self.profiles,
            "--setting": self.setting,
            "--assume-exists": self.assume_exists,
        }
        given = [word for name, values in options.items() for value in values or () for word in (name, value)]
        if self.default_namespace != Call.default_namespace:
            given += ["--default-namespace", self.default_namespace]
        return [*given, *(["--render"] if self.render else []), *(["--complete"] if self.complete else [])]


# What of a tree `--render` would apply; the rest of what is no object only serves these.
_APPLIED: Final = ("patch", "replacement", "transformer", "generator", "Helm template")
# Of each one, the object is read again.
_MOST_NAMED: Final = 3
_MOST_LOCATED: Final = 200
Located = TypeVar("Located", "Diagnostic", "Reason", "Unattached")

# These come before the options that a command has of its own, the others after them.
INPUT: Final = ("default_namespace", "exclude", "cluster", "variables", "render")
_FIRST: Final = ("offline", "namespace", *INPUT)
_LAST: Final = ("output", "profiles", "setting", "complete", "assume_exists", "color")


def command(forms: Forms, *, without: "Collection[str]" = ()) -> "Callable[[Callable[..., int]], Callable[..., int]]":
    """Give a function the options of `Call`, but for some, in front of those of its own; it gets them as its `call`.

    Which formats `--output` takes, its forms say; the first is the one that is shown unless another is asked for.
    """

    def with_options(function: "Callable[..., int]") -> "Callable[..., int]":
        def run(context: typer.Context, **given: object) -> int:
            # What is given empty, as by `-n "$UNSET"`, is as if it was left out: so does kubectl.
            told = {name: given.pop(name) or getattr(Call, name) for name in shared}
            return function(Call(program=context.find_root().info_name or "", **cast("Any", told)), **given)

        shared = [name for name in (*_FIRST, *_LAST) if name not in without]
        own = list(inspect.signature(function).parameters.values())[1:]
        words = [parameter for parameter in own if parameter.kind is not parameter.KEYWORD_ONLY]
        options = [parameter for parameter in own if parameter.kind is parameter.KEYWORD_ONLY]
        first, last = ([_option(name, forms) for name in names if name in shared] for names in (_FIRST, _LAST))
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        parameters = [context, *words, *first, *options, *last]
        run.__doc__ = function.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return with_options


def _option(name: str, forms: Forms) -> inspect.Parameter:
    annotation, default = Call.__annotations__[name], getattr(Call, name)
    if name == "output":
        # Its formats are known when the command is built.
        option = typer.Option(
            "--output", "-o", metavar=f"[{'|'.join(forms.formats)}]", help=_OUTPUT, parser=_output(forms)
        )
        annotation, default = Annotated[str, option], forms.formats[0]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_OUTPUT: Final = "Output format; also jsonpath=TEMPLATE and custom-columns=HEADER:PATH,..."


def _output(forms: Forms) -> "Callable[[str], str]":
    """What takes the value of `--output`. It raises `UsageError` for a format in which an answer is not offered."""

    def parsed(name: str) -> str:
        kind, is_template, _ = name.partition("=")
        if is_template and kind in TEMPLATES:
            format_of(name)
        elif name not in forms.formats:
            known = ", ".join(f"'{each}'" for each in (*forms.formats, *(f"{each}=..." for each in TEMPLATES)))
            problem = f"invalid value for '--output' / '-o': '{name}' is not one of {known}"
            raise UsageError(problem, "for example: -o json")
        return name

    return parsed


def exit_code(*, differs: bool, incomplete: bool) -> int:
    """How to end: 4 where that cannot be told for what was not seen, else 1 if anything differs, else 0."""
    if incomplete:
        return INCOMPLETE
    return FOUND if differs else 0


def mention_waiting() -> None:
    """One line about what is waited for, where a person has to type it."""
    import sys

    if sys.stdin is not None and sys.stdin.isatty():
        from kubectl_policy.cli.terminal import complain

        complain("reading manifests from the keyboard; Ctrl-D ends them")


def mention_the_rest(
    analysis: "Analysis", shown: "Collection[Diagnostic]" = (), unseen: "Collection[Unseen]" = ()
) -> None:
    """One line about what was wrong with reading the input, as far as the answer does not show it.

    Only about reading: to know what is wrong with every object would take longer than to answer for one.
    """
    origins = {thing.origin for thing in unseen if thing.origin}
    known = set(shown)
    rest = [
        diagnostic
        for diagnostic in analysis.snapshot.diagnostics
        if diagnostic.severity != "info" and diagnostic not in known and diagnostic.origin not in origins
    ]
    if rest:
        from kubectl_policy.cli.terminal import complain
        from kubectl_policy.render.words.names import count

        first = min(
            rest, key=lambda diagnostic: (diagnostic.severity != "error", str(diagnostic.origin), diagnostic.message)
        )
        number = count(len(rest), "more problem" if shown or unseen else "problem")
        example = ", for example" if len(rest) > 1 else ""
        complain(f"{number} in the input{example}: {first.origin}: {first.message}")


# Where kustomizations, and what delivers them, say a namespace.
_NAMESPACE_FIELDS: Final = (
    "namespace",
    "spec.targetNamespace",
    "spec.source.kustomize.namespace",
    "spec.destination.namespace",
    "spec.template.spec.source.kustomize.namespace",
    "spec.template.spec.destination.namespace",
)


def mention_namespaces(analysis: "Analysis", refs: "Iterable[ObjectRef]") -> None:
    """One line about objects that name no namespace, of which files around them say it, with an example."""
    objects = (analysis.index.get(ref) for ref in dict.fromkeys(refs))
    derived = [found for found in objects if found and found.namespace_from]
    if derived:
        from kubectl_policy.cli.terminal import complain

        first = derived[0]
        several = f"{len(derived)} of these are where files around them put them; for example, " if derived[1:] else ""
        said_by = first.namespace_from
        for field in _NAMESPACE_FIELDS:
            said_by = at_field(said_by, field) if said_by == first.namespace_from else said_by
        complain(f"{several}{first.ref} is in namespace {first.ref.namespace} by {said_by}")


def mention_what_was_not_applied(analysis: "Analysis", *, rendered: bool) -> None:
    """One line about patches, templates and the like: what is no object of its own, and changes or makes others."""
    numbers = Counter(each.what for each in analysis.snapshot.left_out if each.what in _APPLIED)
    if numbers:
        from kubectl_policy.cli.terminal import complain
        from kubectl_policy.render.words.names import count, listed

        words = [count(number, what) for what, number in sorted(numbers.items(), key=lambda each: (-each[1], each[0]))]
        were = "was" if numbers.total() == 1 else "were"
        complain(f"{listed(words)} {were} not applied{'' if rendered else ': --render'}")


def mention_what_was_assumed(analysis: "Analysis") -> None:
    """One line about what is not in the input and was taken to exist, because the call says so."""
    taken = analysis.index.taken_to_exist
    if taken:
        from kubectl_policy.cli.terminal import complain
        from kubectl_policy.render.words.names import count, listed

        shown = [str(ref) for ref in taken[:_MOST_NAMED]]
        more = [count(len(taken) - len(shown), "more object")] if len(taken) > len(shown) else []
        are = "is" if len(taken) == 1 else "are"
        complain(f"taken to exist, as --assume-exists says: {listed([*shown, *more])}, which {are} not in the input")


def assumption(text: str) -> "AssumedObjects":
    """What `--assume-exists` says. Raises `UsageError` for anything else than a kind, or a kind with a name."""
    from kubectl_policy.model.assumptions import AssumedObjects

    try:
        return AssumedObjects.parse(text)
    except ValueError:
        hint = "write KIND, KIND/NAME or KIND/NAMESPACE/NAME, for example: --assume-exists secret/htpasswd"
        raise UsageError(f'--assume-exists takes no "{text}"', hint) from None


def at_fields(
    entries: "Sequence[Located]", *, or_above: bool = False, lines: "Lines | None" = None
) -> "tuple[Located, ...]":
    """What was found, with the lines of the fields that it is about instead of those of their objects.

    A field that is not there has the line of what it would stand in, if `or_above`. `lines` are those of the command.
    """
    from kubectl_policy.sources import Lines

    lines = lines or Lines()
    return tuple(
        replace(entry, origin=at_field(entry.origin, entry.field, or_above=or_above, lines=lines))
        if place < _MOST_LOCATED
        else entry
        for place, entry in enumerate(entries)
    )


def at_field(
    origin: "Origin | None", field: str, *, or_above: bool = False, lines: "Lines | None" = None
) -> "Origin | None":
    """The line of a field of an object that was read somewhere; see `at_fields`."""
    from kubectl_policy.model import FieldPath, Origin
    from kubectl_policy.sources import Lines

    lines = lines or Lines()
    while origin and field:
        if line := lines.locate(origin, FieldPath.parse(field)):
            return Origin(origin.source, line)
        field = field.rpartition(".")[0] if or_above else ""
    return origin


def split_object(command: str, words: "Sequence[str]") -> tuple[str, str]:
    """The type and the name in `TYPE/NAME` or `TYPE NAME`; the name is empty in `TYPE`, for the input to help with.

    A name can have a namespace, `shop/cart`. Raises `UsageError` for anything else.
    """
    if len(words) == 1 and words[0] and "/" not in words[0]:
        return words[0], ""
    joined = "/".join(words) if len(words) <= 2 and "/" not in "".join(words[:-1]) else ""  # noqa: PLR2004 (a pair)
    found = type_and_name(joined)
    if found is None:
        example = f"for example: {command} httproute/NAME"
        raise UsageError(f"{command} takes one object, as TYPE/NAME or TYPE NAME", example)
    return found


def split_objects(command: str, words: "Sequence[str]") -> list[tuple[str, str]]:
    """The types and names in `TYPE/NAME...` or `TYPE NAME...`; see `split_object` for one object."""
    if len(words) > 1:
        pairs = [pair for word in words if (pair := type_and_name(word))]
        if "/" not in words[0]:
            pairs = [pair for word in words[1:] if (pair := type_and_name(f"{words[0]}/{word}"))]
            words = words[1:]
        if len(pairs) == len(words):
            return pairs
        raise UsageError(f"{command} takes TYPE/NAME... or TYPE NAME...", f"for example: {command} httproute/NAME")
    return [split_object(command, words)]


def type_and_name(word: str) -> tuple[str, str] | None:
    """The type and the name in `TYPE/NAME` and `TYPE/NAMESPACE/NAME`; None if a word is not of these."""
    first, *rest = word.split("/")
    return (first, "/".join(rest)) if first and all(rest) and len(rest) in {1, 2} else None


def split_words(command: str, words: "Sequence[str]", example: str) -> tuple[str, tuple[str, ...]]:
    """`split_types` of a command that takes one type at a time."""
    (type_, names), *others = split_types(command, words, example)
    if others:
        raise UsageError(f"{command} takes one type at a time", example)
    return type_, names


def split_types(command: str, words: "Sequence[str]", example: str) -> list[tuple[str, tuple[str, ...]]]:
    """Each type with its names in `TYPE[,TYPE...]`, `TYPE[,TYPE...] NAME...` or `TYPE/NAME...`, in their order.

    Raises `UsageError` for anything else.
    """
    pairs = [pair for word in words if (pair := type_and_name(word))]
    types = words[0].split(",")
    if "/" not in words[0] and all(types) and all(word.count("/") <= 1 and all(word.split("/")) for word in words):
        return [(type_, tuple(words[1:])) for type_ in dict.fromkeys(types)]
    if len(pairs) < len(words) or any("," in type_ for type_, _ in pairs):
        raise UsageError(f"{command} takes TYPE, TYPE NAME... or TYPE/NAME...", example)
    names: dict[str, list[str]] = {}
    for type_, name in pairs:
        names.setdefault(type_, []).append(name)
    return [(type_, tuple(of_type)) for type_, of_type in names.items()]


def selection(namespace: str, names: tuple[str, ...], selector: str) -> "Selection":
    """The objects that are meant; no namespace is every one. Raises `UsageError` for names with other choices."""
    from kubectl_policy.model.selectors import parse_label_query
    from kubectl_policy.questions.shared.selection import Selection

    if names and (selector or not namespace):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    return Selection(namespace, names, parse_label_query(selector))
