"""What may be asked of a server at all, and be kept: no names that lead elsewhere, and nothing in Secrets."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kubectl_policy.model.fields import mapping_at
from kubectl_policy.sources.cluster.api.answers import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.fields import Json


def check(path: str) -> None:
    """Raise Refusal where a name in a path can be none of an object, and would lead elsewhere.

    As `IsValidPathSegmentName` of k8s.io/apimachinery/pkg/api/validation/path has it: a name from an object, such as
    `a/proxy` or `..`, must not decide what is read.
    """
    segments = [unquote(segment) for segment in path.removeprefix("/").split("/")]
    if any(not each or each in {".", ".."} or "/" in each or "%" in each for each in segments):
        raise Refusal(HTTPStatus.NOT_FOUND, "not found", "nothing can have such a name")


def is_of_secrets(path: str) -> bool:
    """Whether Secrets are at a path, one or all of them."""
    match path.removeprefix("/").split("/"):
        case ["api", "v1", "secrets", *_] | ["api", "v1", "namespaces", _, "secrets", *_]:
            return True
        case ["api", "v1", "watch", *rest]:
            return "secrets" in rest
        case _:
            return False


def bare_secrets(answer: Mapping[str, Json]) -> Mapping[str, Json]:
    """The metadata of Secrets without annotations, in one of which `kubectl apply` leaves all that a Secret holds.

    Raises Refusal for what is more than metadata: servers that do not know it yet answer with the whole object.
    """
    if answer.get("kind") not in {"PartialObjectMetadata", "PartialObjectMetadataList"}:
        raise Refusal(HTTPStatus.NOT_ACCEPTABLE, "the server does not give the metadata of Secrets alone")
    bare = _without_content(answer)
    items = answer.get("items", ())
    if isinstance(items, list):
        bare["items"] = [_without_content(each) for each in items if isinstance(each, dict)]
    elif items is None:
        # Go writes it where there are none.
        bare["items"] = None
    return bare


def _without_content(secret: Mapping[str, Json]) -> dict[str, Json]:
    metadata = mapping_at(secret, "metadata")
    kept = {name: each for name, each in metadata.items() if name not in {"annotations", "managedFields"}}
    return {**{name: secret[name] for name in ("apiVersion", "kind") if name in secret}, "metadata": kept}
