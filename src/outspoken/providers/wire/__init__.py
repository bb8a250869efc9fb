"""The wire formats, one module or package for each API: its reader, its exporter, its names of token counts, and how
its requests become chat completions.

Readers turn JSON objects into parts and feed an `Assembler`; `reader` has what they share. Exporters turn events into
the parts of a protocol; `exporter`, `parts` and `replay` are what they share, and `writing` has `to_wire`,
`stream_to_wire` and `sse`. Requests are read by `fields` and written by `conversation`.
"""
