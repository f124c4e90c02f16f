"""`get`: policies, policy kinds and the objects that policies affect, a line each."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kubectl_policy.cli.inputs import Complete, ControllerSettings, Namespace, Offline, Profiles, mention_the_rest, read
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.listing import Listing, Selection

ListOutput = Literal["table", "wide", "yaml", "json", "name"]
# These say themselves that they are empty, or what they lack.
_DOCUMENTS = {"yaml", "json"}
_EXAMPLE = "for example: get policies, get policykinds, get gateways, get routes, get services"


def get(  # noqa: PLR0913 (every option of the command is a parameter)
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE [NAME...] | TYPE/NAME...", help="What to list.")
    ] = None,
    *,
    offline: Offline = None,
    namespace: Namespace = "default",
    all_namespaces: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="List what is in any namespace.")
    ] = False,
    selector: Annotated[
        str, typer.Option("--selector", "-l", metavar="QUERY", help="List what has these labels, as for kubectl.")
    ] = "",
    output: Annotated[ListOutput, typer.Option("--output", "-o", help="Output format.")] = "table",
    sort_by: Annotated[
        str, typer.Option(metavar="COLUMN | .FIELD", help="Sort by a column, or by a field such as .metadata.name.")
    ] = "",
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Leave the headers of a table out.")] = False,
    profiles: Profiles = None,
    setting: ControllerSettings = None,
    complete: Complete = False,
) -> None:
    """List policies, policy kinds, or objects with the number of policies that affect them.

    TYPE is policies, policykinds, gatewayclasses, gateways, listenersets, routes, services or namespaces, any single
    kind of these (httproutes, retrypolicies), or any other kind that a policy targets; short names will do.

    \b
    Examples:
      kubectl policy get policies -A --offline manifests/
      kubectl policy get routes -n baker -o wide --sort-by policies --offline manifests/
      kubectl policy get policykinds --offline manifests/
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    type_name, names = split_words(words or [])
    if names and (selector or all_namespaces):
        option = "--selector" if selector else "--all-namespaces"
        raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
    selection = _selection("" if all_namespaces else namespace, names, selector)
    analysis = read(offline, profiles, setting, namespace, complete=complete)
    shape = {"headers": not no_headers, "namespaces": all_namespaces}
    listing, text = _listed(analysis, (type_name, selection), output, sort_by, **shape)
    _show(listing, text, output)
    mention_the_rest(analysis, unseen=listing.unseen if output in _DOCUMENTS else ())


def split_words(words: "Sequence[str]") -> tuple[str, tuple[str, ...]]:
    """The type and the names in `TYPE`, `TYPE NAME...` or `TYPE/NAME...`. Raises `UsageError` for anything else."""
    if not words:
        raise UsageError("what to list is not said", _EXAMPLE)
    pairs = [word.split("/") for word in words]
    if all(len(pair) == 1 for pair in pairs):
        types, names = {words[0]}, tuple(words[1:])
    elif all(len(pair) == 2 and all(pair) for pair in pairs):  # noqa: PLR2004 (a pair)
        types, names = {pair[0] for pair in pairs}, tuple(pair[1] for pair in pairs)
    else:
        raise UsageError("get takes TYPE, TYPE NAME... or TYPE/NAME...", _EXAMPLE)
    if len(types) > 1 or "," in words[0]:
        raise UsageError("get lists one type at a time", _EXAMPLE)
    return types.pop(), names


def _selection(namespace: str, names: tuple[str, ...], selector: str) -> "Selection":
    # What `--help` can do without is imported by those who need it.
    from kubectl_policy.model.label_query import parse_label_query  # noqa: PLC0415
    from kubectl_policy.questions.listing import Selection  # noqa: PLC0415

    return Selection(namespace, names, parse_label_query(selector))


def _listed(
    analysis: "Analysis", asked: "tuple[str, Selection]", output: ListOutput, sort_by: str, **shape: bool
) -> "tuple[Listing[object], str]":
    from kubectl_policy.cli.terminal import takes_unicode  # noqa: PLC0415 (see _selection)
    from kubectl_policy.questions.lists import list_names, list_type  # noqa: PLC0415 (see _selection)
    from kubectl_policy.render.lists import TableShape, list_text, names_text  # noqa: PLC0415 (see _selection)
    from kubectl_policy.render.ordering import ordered  # noqa: PLC0415 (see _selection)

    if output == "name" and not sort_by:
        # What takes effect where is not worth computing for names.
        named = list_names(analysis, *asked)
        return named, names_text(named)
    listing = ordered(list_type(analysis, *asked), sort_by)
    return listing, list_text(listing, output, TableShape(**shape), unicode=takes_unicode())


def _show(listing: "Listing[object]", text: str, output: ListOutput) -> None:
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see _selection)
    from kubectl_policy.render.list_words import nothing_found, what_is_unknown  # noqa: PLC0415 (see _selection)

    terminal.write(text)
    if output not in _DOCUMENTS:
        terminal.complain(*(() if listing.rows else nothing_found(listing)), *what_is_unknown(listing))
