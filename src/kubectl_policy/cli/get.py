"""`get`: policies, policy kinds and the objects that policies affect, a line each."""

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.cli.options import (
    AllNamespaces,
    Call,
    Selector,
    ShowAll,
    command,
    mention_namespaces,
    selection,
    split_words,
)
from kubectl_policy.errors import UsageError
from kubectl_policy.render.listing import LISTING

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.shared.selection import Listing

_EXAMPLE = "for example: get policies, get policykinds, get gateways, get routes, get services"


@command(LISTING)
def get(
    call: Call,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE [NAME...] | TYPE/NAME...", help="What to list.")
    ] = None,
    *,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    sort_by: Annotated[
        str, typer.Option(metavar="COLUMN | .FIELD", help="Sort by a column, or by a field such as .metadata.name.")
    ] = "",
    all_kinds: Annotated[
        bool, typer.Option("--all-kinds", help="Of policies, also those that are about neither Gateways nor routes.")
    ] = False,
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Leave the headers of a table out.")] = False,
    show_all: ShowAll = False,
) -> int:
    """List policies, policy kinds, or objects with the number of policies that affect them.

    TYPE is policies, policykinds, gatewayclasses, gateways, listenersets, listeners, routes, services or namespaces,
    any single kind of these (httproutes, retrypolicies), or any other kind that a policy targets; short names will do.

    \b
    Examples:
      kubectl policy get policies -A --offline manifests/
      kubectl policy get routes -n baker -o wide --sort-by policies --offline manifests/
      kubectl policy get policykinds --offline manifests/
    """
    if not words:
        raise UsageError("the type of objects to list is missing", _EXAMPLE)
    type_name, names = split_words("get", words, _EXAMPLE)
    chosen = selection("" if all_namespaces else call.namespace, names, selector)
    analysis = call.read()
    from kubectl_policy.questions.listing.lists import list_names, list_type

    listing: Listing[object]
    refs: list[ObjectRef] = []
    if call.output == "name" and not sort_by:
        # What takes effect where is not worth computing for names.
        listing = list_names(analysis, type_name, chosen, all_kinds=all_kinds)
    else:
        from kubectl_policy.render.listing.columns import ordered

        of_type = list_type(analysis, type_name, chosen, all_kinds=all_kinds)
        refs = [row.ref for row in of_type.rows]
        listing = ordered(of_type, sort_by)
    call.show(
        LISTING,
        listing,
        analysis,
        unseen=listing.unseen,
        headers=not no_headers,
        namespaces=all_namespaces or any("/" in name for name in names),
        everything=show_all,
    )
    mention_namespaces(analysis, refs)
    return 0
