"""Runs what is in `outspoken.authoring.fuzz` on the formats of this checkout."""
