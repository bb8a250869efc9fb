"""Text, reasoning, tool calls and other parts to one stream of events and one reply.

Import `Assembler` and `ToolCallBlock`. It knows no wire format; it imports the parser, and the events and replies of
`providers`.
"""
