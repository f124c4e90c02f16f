"""The options that commands share, and what they select and read."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic
    from kubectl_policy.questions.shared.selection import Selection
    from kubectl_policy.questions.shared.unseen import Unseen

Offline: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="Read manifests from a file, a folder, a glob, or - for standard input. Repeatable."
    ),
]
Namespace: TypeAlias = Annotated[
    str,
    typer.Option("--namespace", "-n", metavar="NAME", help="Namespace to look in, and of manifests that name none."),
]
Profiles: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="Say what is known of policy kinds: a file or a folder. Repeatable; later ones win."
    ),
]
ControllerSettings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--setting", metavar="NAME=VALUE", help="Say how a controller is set up, by a name in its profile. Repeatable."
    ),
]
Complete: TypeAlias = Annotated[
    bool, typer.Option("--complete", help="Take it that what is not in the input does not exist.")
]

AllowIncomplete: TypeAlias = Annotated[
    bool, typer.Option("--allow-incomplete", help="Go by what could be seen, even if that is not all that matters.")
]
Color: TypeAlias = Annotated[Literal["auto", "always", "never"], typer.Option(help="Colour the tree.")]


def read(
    offline: "Sequence[str] | None",
    profiles: "Sequence[str] | None",
    settings: "Sequence[str] | None",
    namespace: str,
    *,
    complete: bool,
) -> "Analysis":
    """The analysis of what the options name. Raises `PolicyError` if they name nothing that can be read."""
    if not offline:
        raise UsageError("live clusters are not supported yet", "add --offline PATH to read manifests")
    # What `--help` can do without is imported by those who need it.
    from kubectl_policy import analyze, load_manifests  # noqa: PLC0415
    from kubectl_policy.cli.config import known  # noqa: PLC0415

    told = known(profiles, settings)
    snapshot = load_manifests(offline, namespace=namespace, complete=complete)
    return analyze(snapshot, profiles=told.profiles, implementation=told.implementation)


def repeated(**options: "Sequence[str] | None") -> list[str]:
    """Options that were given, each as often as it was, to stand in a command that is suggested next."""
    return [word for name, values in options.items() for value in values or () for word in (f"--{name}", value)]


def mention_the_rest(
    analysis: "Analysis", shown: "Collection[Diagnostic]" = (), unseen: "Collection[Unseen]" = ()
) -> None:
    """One line about what was wrong with reading the input, as far as the answer does not show it.

    Only about reading: to know what is wrong with every object would take longer than to answer for one.
    """
    origins = {thing.origin for thing in unseen if thing.origin}
    known = set(shown)
    rest = [
        found
        for found in analysis.snapshot.diagnostics
        if found.severity != "info" and found not in known and found.origin not in origins
    ]
    if rest:
        from kubectl_policy.cli.terminal import complain  # noqa: PLC0415 (see read)
        from kubectl_policy.render.words.names import count  # noqa: PLC0415 (see read)

        first = min(rest, key=lambda found: (found.severity != "error", str(found.origin), found.message))
        number = count(len(rest), "more problem" if shown or unseen else "problem")
        example = ", for example" if len(rest) > 1 else ""
        complain(f"{number} in the input{example}: {first.origin}: {first.message}")


AllNamespaces: TypeAlias = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="List what is in any namespace.")
]
Selector: TypeAlias = Annotated[
    str, typer.Option("--selector", "-l", metavar="QUERY", help="List what has these labels, as for kubectl.")
]


def split_object(command: str, words: "Sequence[str]") -> tuple[str, str]:
    """The type and the name in `TYPE/NAME` or `TYPE NAME`. Raises `UsageError` for anything else."""
    parts = words[0].split("/") if len(words) == 1 else list(words)
    example = f"for example: {command} httproute/baker"
    if len(words) == 1 and len(parts) == 1:
        raise UsageError(f"which {words[0]} is not said", example)
    if len(parts) != 2 or not all(parts) or any("/" in part for part in parts if len(words) > 1):  # noqa: PLR2004 (a pair)
        raise UsageError(f"{command} takes one object, as TYPE/NAME or TYPE NAME", example)
    return parts[0], parts[1]


def split_words(command: str, words: "Sequence[str]", example: str) -> tuple[str, tuple[str, ...]]:
    """The type and the names in `TYPE`, `TYPE NAME...` or `TYPE/NAME...`. Raises `UsageError` for anything else."""
    pairs = [word.split("/") for word in words]
    if all(len(pair) == 1 for pair in pairs):
        types, names = {words[0]}, tuple(words[1:])
    elif all(len(pair) == 2 and all(pair) for pair in pairs):  # noqa: PLR2004 (a pair)
        types, names = {pair[0] for pair in pairs}, tuple(pair[1] for pair in pairs)
    else:
        raise UsageError(f"{command} takes TYPE, TYPE NAME... or TYPE/NAME...", example)
    if len(types) > 1 or "," in words[0]:
        raise UsageError(f"{command} takes one type at a time", example)
    return types.pop(), names


def selection(namespace: str, names: tuple[str, ...], selector: str) -> "Selection":
    """The objects that are meant; no namespace is every one. Raises `UsageError` for names beside other choices."""
    # What `--help` can do without is imported by those who need it.
    from kubectl_policy.model.selectors import parse_label_query  # noqa: PLC0415
    from kubectl_policy.questions.shared.selection import Selection  # noqa: PLC0415

    if names and (selector or not namespace):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    return Selection(namespace, names, parse_label_query(selector))
