"""What the words of a command line name: objects, types and names, and which objects are meant."""

from typing import TYPE_CHECKING

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.questions.shared.selection import Selection


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


def selection(names: tuple[str, ...], selector: str, *, everywhere: bool) -> "Selection":
    """The objects that are meant, in any namespace. Raises `UsageError` for names with other choices."""
    from kubectl_policy.model.selectors import parse_label_query
    from kubectl_policy.questions.shared.selection import Selection

    if names and (selector or everywhere):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    return Selection("", names, parse_label_query(selector))


def assumption(text: str) -> "AssumedObjects":
    """What `--assume-exists` says. Raises `UsageError` for anything else than a kind, or a kind with a name."""
    from kubectl_policy.model.snapshot import AssumedObjects

    try:
        return AssumedObjects.parse(text)
    except ValueError:
        hint = "write KIND, KIND/NAME or KIND/NAMESPACE/NAME, for example: --assume-exists secret/htpasswd"
        raise UsageError(f'--assume-exists takes no "{text}"', hint) from None
