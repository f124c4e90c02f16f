"""`get` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

LISTING: Final = Forms(
    headline="words.headlines:list_headline",
    table="listing.columns:list_table",
    document="listing.documents:list_document",
    names="listing.columns:listed_objects",
    remarks="listing.columns:remarks",
)
SEVERAL: Final = Forms(
    headline="listing.several:lists_headline",
    table="listing.several:lists_tables",
    document="listing.several:SEVERAL",
    names="listing.several:lists_objects",
    remarks="listing.several:lists_remarks",
)
