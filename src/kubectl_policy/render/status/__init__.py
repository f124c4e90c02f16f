"""`status` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

STATUS: Final = Forms(
    headline="words.headlines:status_headline",
    tree="status.text:status_tree",
    table="status.text:status_table",
    document="status.documents:STATUS_COMPARISON",
    names="status.text:disagreeing_objects",
    hints="status.text:hints",
)
