"""`diff` and `blast-radius` for people, for programs and for pull requests."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

DIFF: Final = Forms(
    headline="changes.diff_headline:diff_headline",
    tree="changes.tree:diff_tree",
    table="changes.table:diff_table",
    document="changes.documents:POLICY_DIFF",
    markdown="changes.markdown:diff_markdown",
    summary="changes.diff_headline:diff_headline",
    names="changes.table:diff_names",
)
BLAST_RADIUS: Final = Forms(
    headline="changes.blast_headline:blast_headline",
    tree="changes.tree:blast_radius_tree",
    table="changes.table:blast_radius_table",
    document="changes.documents:BLAST_RADIUS",
    markdown="changes.markdown:blast_radius_markdown",
    summary="changes.blast_headline:blast_headline",
    names="changes.table:blast_radius_names",
)
