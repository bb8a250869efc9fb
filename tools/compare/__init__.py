"""Reads the same texts with other projects and with Outspoken, each through its own public interface."""
