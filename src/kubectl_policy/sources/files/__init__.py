"""Trees of files: folders on disk, git revisions and tar archives are listed, read and resolved alike."""
