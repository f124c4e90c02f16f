"""Why a policy has no effect on an object, and the edits that would give it one."""
