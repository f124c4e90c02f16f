"""What is said about a list beside its rows: that it is empty, and what it could not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.words.headlines import list_headline
from kubectl_policy.render.words.next_commands import elsewhere_hint

if TYPE_CHECKING:
    from kubectl_policy.questions.shared.selection import Listing


def beside(listing: Listing[object], empty: bool) -> list[str]:  # noqa: FBT001 (see Forms)
    """Next to a table: that there is nothing, and what it cannot know."""
    return [*(nothing_found(listing) if empty else ()), *what_is_unknown(listing)]


def nothing_found(listing: Listing[object]) -> tuple[str, ...]:
    """What kubectl says of an empty list, and, if there is something in other namespaces, how to see it."""
    said = f"No resources found in {listing.namespace} namespace." if listing.namespace else "No resources found"
    return said, *elsewhere_hint(listing.elsewhere, listing.type.noun)


def what_is_unknown(listing: Listing[object]) -> tuple[str, ...]:
    """Of an incomplete list, its headline, and how to see what is missing."""
    if not listing.unseen:
        return ()
    return list_headline(listing), "hint: a number that ends with + may be higher; -o yaml says what was not read"
