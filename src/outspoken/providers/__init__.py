"""Responses of LLM providers: read from the wire, and written in the wire formats of other APIs.

A response flows through the rooms in this order; each imports only from those before it:

- `errors`, `replies`, `events`: what callers receive and catch
- `decode`: bytes, text and SDK objects to JSON objects
- `assembly`: text, reasoning and calls to one stream of events and one reply
- `readers`: the wire format of one API each; they feed the assembly
- `registry`, `stream`, `chunk_parser`: the providers by name, and what callers use
- `export`: events and replies to the wire formats of other APIs; it needs only what callers receive

Import the public names from `outspoken`. The rooms may import the parser and what it is made of (`parsing`, `json`,
`notations`, `grammar`, `results`).
"""
