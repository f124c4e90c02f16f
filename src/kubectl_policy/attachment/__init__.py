"""What a policy is attached to: every reference becomes an attachment, also the ones that fail."""

from kubectl_policy.attachment.attach import attach
from kubectl_policy.attachment.attachment import MEANINGS, Attachment, State, TargetReference
from kubectl_policy.attachment.references import target_references, without_references

__all__ = ["MEANINGS", "Attachment", "State", "TargetReference", "attach", "target_references", "without_references"]
