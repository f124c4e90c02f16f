"""Reasons why a policy has no effect on an object, and edits that would give it one."""
