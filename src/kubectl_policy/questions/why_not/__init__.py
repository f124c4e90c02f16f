"""Why a policy has no effect on an object, and the smallest edit that would give it one."""
