"""What a policy is attached to: every target reference becomes an attachment, also the ones that fail."""

from kubectl_policy.attachment.attach import Attachment, State, attach
from kubectl_policy.attachment.references import TargetReference, target_references

__all__ = ["Attachment", "State", "TargetReference", "attach", "target_references"]
