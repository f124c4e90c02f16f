"""`diff` and `blast-radius` for people, for programs and for pull requests."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

DIFF: Final = Forms(
    headline="changes.words:diff_headline",
    tree="changes.diff:diff_tree",
    table="changes.rows:diff_table",
    document="changes.documents:diff_document",
    markdown="changes.markdown:diff_markdown",
    summary="changes.words:diff_headline",
    names="changes.rows:diff_names",
)
BLAST_RADIUS: Final = Forms(
    headline="changes.words:blast_headline",
    tree="changes.blast_radius:blast_radius_tree",
    table="changes.rows:blast_radius_table",
    document="changes.documents:blast_radius_document",
    markdown="changes.markdown:blast_radius_markdown",
    summary="changes.words:blast_headline",
    names="changes.rows:blast_radius_names",
)
