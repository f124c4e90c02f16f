"""Parse the arguments of commands: objects, types and names."""

from typing import TYPE_CHECKING

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.questions.shared.selection import Selection


def split_object(command: str, arguments: "Sequence[str]") -> tuple[str, str]:
    """Split `TYPE/NAME` or `TYPE NAME` into type and name; the name is "" in `TYPE`, for the error to list candidates.

    A name can have a namespace, `shop/cart`. Raise `UsageError` for another form.
    """
    if len(arguments) == 1 and arguments[0] and "/" not in arguments[0]:
        return arguments[0], ""
    joined = "/".join(arguments) if len(arguments) <= 2 and "/" not in "".join(arguments[:-1]) else ""  # noqa: PLR2004 (a pair)
    pair = type_and_name(joined)
    if pair is None:
        example = f"for example: {command} httproute/NAME"
        raise UsageError(f"{command} takes one object, as TYPE/NAME or TYPE NAME", example)
    return pair


def split_objects(command: str, arguments: "Sequence[str]") -> list[tuple[str, str]]:
    """Split `TYPE/NAME...` or `TYPE NAME...` into types and names, as `split_object` does for one object."""
    if len(arguments) > 1:
        pairs = [pair for argument in arguments if (pair := type_and_name(argument))]
        if "/" not in arguments[0]:
            pairs = [pair for argument in arguments[1:] if (pair := type_and_name(f"{arguments[0]}/{argument}"))]
            arguments = arguments[1:]
        if len(pairs) == len(arguments):
            return pairs
        raise UsageError(f"{command} takes TYPE/NAME... or TYPE NAME...", f"for example: {command} httproute/NAME")
    return [split_object(command, arguments)]


def type_and_name(argument: str) -> tuple[str, str] | None:
    """Split `TYPE/NAME` or `TYPE/NAMESPACE/NAME` into type and name; return None for another form."""
    first, *rest = argument.split("/")
    return (first, "/".join(rest)) if first and all(rest) and len(rest) in {1, 2} else None


def split_words(command: str, arguments: "Sequence[str]", example: str) -> tuple[str, tuple[str, ...]]:
    """Split the arguments of a command that takes one type at a time, as `split_types` does."""
    types = split_types(command, arguments, example)
    if len(types) > 1:
        raise UsageError(f"{command} takes one type at a time", example)
    return types[0]


def split_types(command: str, arguments: "Sequence[str]", example: str) -> list[tuple[str, tuple[str, ...]]]:
    """Split `TYPE[,TYPE...]`, `TYPE[,TYPE...] NAME...` or `TYPE/NAME...` into types, each with its names.

    Raise `UsageError` for another form.
    """
    pairs = [pair for argument in arguments if (pair := type_and_name(argument))]
    types = arguments[0].split(",")
    if (
        "/" not in arguments[0]
        and all(types)
        and all(argument.count("/") <= 1 and all(argument.split("/")) for argument in arguments)
    ):
        return [(type_, tuple(arguments[1:])) for type_ in dict.fromkeys(types)]
    if len(pairs) < len(arguments) or any("," in type_ for type_, _ in pairs):
        raise UsageError(f"{command} takes TYPE, TYPE NAME... or TYPE/NAME...", example)
    names: dict[str, list[str]] = {}
    for type_, name in pairs:
        names.setdefault(type_, []).append(name)
    return [(type_, tuple(of_type)) for type_, of_type in names.items()]


def selection(names: tuple[str, ...], selector: str, *, everywhere: bool) -> "Selection":
    """Return a selection in any namespace. Raise `UsageError` for names together with a selector or all namespaces."""
    from kubectl_policy.model.selectors import parse_label_query
    from kubectl_policy.questions.shared.selection import Selection

    if names and (selector or everywhere):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    return Selection("", names, parse_label_query(selector))


def assumption(text: str) -> "AssumedObjects":
    """Parse `--assume-exists KIND[/NAME]`. Raise `UsageError` for another form."""
    from kubectl_policy.model.snapshot import AssumedObjects

    try:
        return AssumedObjects.parse(text)
    except ValueError:
        hint = "write KIND, KIND/NAME or KIND/NAMESPACE/NAME, for example: --assume-exists secret/htpasswd"
        raise UsageError(f'--assume-exists takes no "{text}"', hint) from None
