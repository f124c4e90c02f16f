"""Draft of a profile file: the assumptions about a policy kind, with comments on what to find out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.contradictions import has_version
from kubectl_policy.profiles.load import profile_file
from kubectl_policy.profiles.reading import write
from kubectl_policy.render.explain.statements import REMEDIES
from kubectl_policy.render.output.encoding import as_yaml
from kubectl_policy.render.output.escape import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.questions.explain import Explanation

_WIDTH: Final = 96
_TO_DO: Final = "TODO: source of this information: repository, file and line, or URL"
_DECLARED: Final = (
    "The kinds that policies in the input target. Add missing kinds, or remove the field to allow any kind."
)
_RULES: Final = "[{group: gateway.networking.k8s.io, kind: HTTPRoute, section: true}]"
_EVIDENCE: Final = "The sources of this information, so that a later reader can check it."
# The first fields of a draft; the evidence is the last one.
_FIRST: Final = ("class", "declaredTargets", "effectiveTargets", "strategy")


def draft(answer: Explanation, *, unicode: bool) -> str:
    """Return a valid profile file with the assumptions of the answer and the target kinds of policies."""
    kind = answer.profile.group_kind
    # What other settings stand for has been filled in.
    profile = replace(answer.profile, settings=answer.profile.settings_of_fields)
    document = {**profile_file(profile), "kinds": {kind.kind: draft_fields(answer)}}
    text = as_yaml(document, unicode=unicode)
    known = {"profile": "", "label": "the label of its definition, ", "shape": "its target references, "}
    header = (
        f"{kind}, from {known[profile.known_by]}{answer.origin}.",
        "Correct this file, then use it with --profiles.",
        "docs/profiles.md describes every field.",
    )
    return "\n".join([*_commented(header), *_with_comments(text, _comments(answer))]) + "\n"


def draft_fields(answer: Explanation) -> dict[str, Json]:
    """Return the fields that are edited most often, then the other fields that differ from their defaults."""
    profile = answer.profile
    fields: dict[str, Json] = {}
    if profile.attaches_by_references:
        kinds = {target.group_kind for target in answer.targets if not has_version(target.group)}
        named: Json = [write(group_kind) for group_kind in sorted(kinds)]
        fields |= {"declaredTargets": named} if named else {}
        fields |= {"effectiveTargets": [], "strategy": profile.default_strategy.value}
    fields |= write(profile)
    if profile.maps_in_stanzas and profile.stanzas == "singular":
        # A file has no schema to tell that these are maps.
        fields["wholeFields"] = sorted(profile.whole_fields | profile.maps_in_stanzas)
    evidence = fields.pop("evidence", [_TO_DO])
    return {**{name: fields[name] for name in _FIRST if name in fields}, **fields, "evidence": evidence}


def _comments(answer: Explanation) -> dict[str, list[str]]:
    """Return the comments above fields: the values to choose from, the assumptions and how to check them."""
    profile = answer.profile
    comments = {
        "class": ["direct: a policy changes only its target. inherited: also the objects below it."],
        "strategy": [f"One of {', '.join(MergeStrategy)}."],
        "evidence": [_EVIDENCE],
    }
    if answer.targets and not profile.declared_targets:
        comments["declaredTargets"] = [_DECLARED]
    if not profile.effective_targets:
        where = "at the target itself" if profile.policy_class == "direct" else "at the end of every path"
        comments["effectiveTargets"] = [
            f"Where policies change behavior; empty: {where}. For the rules of routes:",
            _RULES,
        ]
    for choice, field in (("class", "class"), ("merge strategy", "strategy")):
        if choice in profile.assumed:
            comments[field].append(f"Assumed. {REMEDIES[choice]}")
    return comments


def _with_comments(text: str, comments: Mapping[str, list[str]]) -> list[str]:
    import yaml  # noqa: PLC0415 (the other answers do without)

    tree: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    ((_, fields),) = tree.value[-1][1].value
    lines = text.split("\n")
    for key, _ in reversed(fields.value):
        mark = key.start_mark
        lines[mark.line : mark.line] = _commented(comments.get(key.value, []), mark.column)
    return lines


def _commented(sentences: Iterable[str], indent: int = 0) -> list[str]:
    """Return sentences as comments, one below the other; every line that they quote is a comment as well."""
    from textwrap import wrap  # noqa: PLC0415 (see _with_comments)

    return [
        " " * indent + f"# {line}"
        for sentence in sentences
        for line in wrap(escape_controls(sentence), _WIDTH - indent)
    ]
