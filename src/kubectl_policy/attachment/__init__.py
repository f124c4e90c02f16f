"""Attachments of policies to their targets: one for every reference, also for those that fail."""

from kubectl_policy.attachment.attach import attach
from kubectl_policy.attachment.attachment import MEANINGS, Attachment, State, TargetReference
from kubectl_policy.attachment.references import target_references, unattached_phrase
from kubectl_policy.attachment.settings import Call, SettingsReference, SettingsReferences, calls_of

__all__ = [
    "MEANINGS",
    "Attachment",
    "Call",
    "SettingsReference",
    "SettingsReferences",
    "State",
    "TargetReference",
    "attach",
    "calls_of",
    "target_references",
    "unattached_phrase",
]
