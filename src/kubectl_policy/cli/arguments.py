"""Parse the arguments of commands: objects, types and names."""

from typing import TYPE_CHECKING

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.cli.call import Call
    from kubectl_policy.questions.shared.selection import Selection


def split_objects(command: str, arguments: "Sequence[str]", *, single: bool = False) -> list[tuple[str, str]]:
    """Split `TYPE/NAME...` or `TYPE NAME...` into types and names.

    A name can have a namespace, `shop/cart`; of `TYPE` it is "", for an error that lists names. Raise `UsageError` for
    another form, and for several objects where a `single` one is expected.
    """
    pairs = _split(arguments)
    if not pairs or (single and len(pairs) > 1):
        form = "one object, as TYPE/NAME or TYPE NAME" if single else "TYPE/NAME... or TYPE NAME..."
        raise UsageError(f"{command} takes {form}", f"for example: {command} httproute/NAME")
    return pairs


def split_types(command: str, arguments: "Sequence[str]", example: str) -> list[tuple[str, tuple[str, ...]]]:
    """Split `TYPE[,TYPE...]`, `TYPE[,TYPE...] NAME...` or `TYPE/NAME...` into types, each with its names.

    Raise `UsageError` for another form.
    """
    names: dict[str, list[str]] = {}
    for types, name in _split(arguments):
        for type_ in [types] if "/" in arguments[0] else dict.fromkeys(types.split(",")):
            names.setdefault(type_, []).extend([name] if name else [])
    if not names or not all(names) or any("," in type_ for type_ in names):
        raise UsageError(f"{command} takes TYPE, TYPE NAME... or TYPE/NAME...", example)
    return [(type_, tuple(of_type)) for type_, of_type in names.items()]


def _split(arguments: "Sequence[str]") -> list[tuple[str, str]]:
    """Split `TYPE/NAME...` or `TYPE [NAME...]` into types and names; return nothing for another form."""
    first, *names = arguments or ("",)
    qualified = arguments if "/" in first else [f"{first}/{name}" for name in names]
    pairs = [pair for argument in qualified if (pair := type_and_name(argument))]
    return pairs or [(first, "")] if first and len(pairs) == len(qualified) else []


def type_and_name(argument: str) -> tuple[str, str] | None:
    """Split `TYPE/NAME` or `TYPE/NAMESPACE/NAME` into type and name; return None for another form."""
    first, *rest = argument.split("/")
    return (first, "/".join(rest)) if first and all(rest) and len(rest) in {1, 2} else None


def selection(call: "Call", names: tuple[str, ...], selector: str, *, everywhere: bool) -> "Selection":
    """Return a selection of objects in the namespace of a call, or in all namespaces (`everywhere`).

    Raise `UsageError` for names together with a selector or all namespaces.
    """
    from kubectl_policy.model.selectors import parse_label_query
    from kubectl_policy.questions.shared.selection import Selection

    if names and (selector or everywhere):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    query = parse_label_query(selector)
    return Selection("" if everywhere else call.in_namespace, names, query)
