"""`get`: policies, policy kinds and the objects that policies affect, a line each."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kubectl_policy.cli.options import (
    AllNamespaces,
    Complete,
    ControllerSettings,
    Namespace,
    Offline,
    Profiles,
    Selector,
    mention_the_rest,
    read,
    selection,
    split_words,
)
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.shared.selection import Listing, Selection

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
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
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
    if not words:
        raise UsageError("what to list is not said", _EXAMPLE)
    type_name, names = split_words("get", words, _EXAMPLE)
    chosen = selection("" if all_namespaces else namespace, names, selector)
    analysis = read(offline, profiles, setting, namespace, complete=complete)
    shape = {"headers": not no_headers, "namespaces": all_namespaces}
    listing, text = _listed(analysis, (type_name, chosen), output, sort_by, **shape)
    _show(listing, text, output)
    mention_the_rest(analysis, unseen=listing.unseen if output in _DOCUMENTS else ())


def _listed(
    analysis: "Analysis", asked: "tuple[str, Selection]", output: ListOutput, sort_by: str, **shape: bool
) -> "tuple[Listing[object], str]":
    # What `--help` can do without is imported by those who need it.
    from kubectl_policy.cli.terminal import takes_unicode  # noqa: PLC0415
    from kubectl_policy.questions.listing.lists import list_names, list_type  # noqa: PLC0415 (see _listed)
    from kubectl_policy.render.listing.lists import TableShape, list_text, names_text  # noqa: PLC0415 (see _listed)
    from kubectl_policy.render.listing.ordering import ordered  # noqa: PLC0415 (see _listed)

    if output == "name" and not sort_by:
        # What takes effect where is not worth computing for names.
        named = list_names(analysis, *asked)
        return named, names_text(named)
    listing = ordered(list_type(analysis, *asked), sort_by)
    return listing, list_text(listing, output, TableShape(**shape), unicode=takes_unicode())


def _show(listing: "Listing[object]", text: str, output: ListOutput) -> None:
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see _listed)
    from kubectl_policy.render.listing.words import nothing_found, what_is_unknown  # noqa: PLC0415 (see _listed)

    terminal.write(text)
    if output not in _DOCUMENTS:
        terminal.complain(*(() if listing.rows else nothing_found(listing)), *what_is_unknown(listing))
