"""The namespaces from which a listener takes routes, or a Gateway takes ListenerSets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mapping_at, text_at, value_at
from kubectl_policy.model.selectors import keys_of, selects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index

NAME_LABEL: Final = "kubernetes.io/metadata.name"


def lets_in_namespace(index: Index, namespaces: Mapping[str, Json], default: str, home: str, guest: str) -> bool | None:
    """Whether `namespaces` (RouteNamespaces, ListenerNamespaces) of an object in `home` lets in objects of `guest`.

    `default` is what the type says for an absent `from`. None where the answer depends on labels of a Namespace that
    was not read; the label that an API server derives from the name is always known.
    """
    match text_at(namespaces, "from", default):
        case "All":
            return True
        case "Same":
            return home == guest
        case "Selector":
            return _selected(index, namespaces, guest)
        case _:
            return False


def _selected(index: Index, namespaces: Mapping[str, Json], guest: str) -> bool | None:
    selector = mapping_at(namespaces, "selector")
    # "Selector must be specified when From is set to 'Selector'" (RouteNamespaces): without one, nothing is selected.
    if value_at(namespaces, "selector") is None:
        return False
    labels = index.namespace_labels(guest)
    if labels is None and not keys_of(selector) <= {NAME_LABEL}:
        return None
    return selects(selector, {**(labels or {}), NAME_LABEL: guest})
