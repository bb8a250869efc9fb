"""Reads the same texts with other projects and with Outspoken, each through its own public interface.

`python -m tools.compare.documents` reads JSON documents with json-repair, BAML and Instructor;
`python -m tools.compare.templates` tool calls with response templates of transformers;
`python -m tools.compare.speed` measures the parsers of vLLM and SGLang. `python -m tools.figures` keeps what they find.
"""
