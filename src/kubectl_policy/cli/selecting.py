"""How commands are told which objects: one by type and name, or many by type, names, namespace and labels."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.questions.listing import Selection

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
    from kubectl_policy.model.label_query import parse_label_query  # noqa: PLC0415
    from kubectl_policy.questions.listing import Selection  # noqa: PLC0415

    if names and (selector or not namespace):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    return Selection(namespace, names, parse_label_query(selector))
