"""Tests of what runs lint in CI: an action of GitHub, a template for GitLab, hooks of pre-commit, and their page."""
