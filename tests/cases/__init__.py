"""Adapters that compare this project's answers with recorded cases of other projects."""
