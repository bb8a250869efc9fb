"""Events and replies in the wire formats of other APIs: OpenAI, Anthropic, Vercel's AI SDK, server-sent events.

Import `to_wire`, `stream_to_wire` and `sse` from `wires`, and the exporters. It imports only the events and replies of
`providers`.
"""
