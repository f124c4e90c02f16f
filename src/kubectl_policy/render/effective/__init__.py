"""`get effective` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

EFFECTIVE: Final = Forms(
    headline="effective.words:matrix_headline",
    table="effective.table:matrix_table",
    document="effective.documents:MATRIX",
    names="effective.table:matrix_objects",
    remarks="effective.words:matrix_remarks",
)
