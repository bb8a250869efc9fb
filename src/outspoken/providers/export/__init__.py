"""Events and replies in the wire formats of other APIs: OpenAI, Anthropic, Vercel's AI SDK, server-sent events.

Import the functions `to_…` and `sse`, and the exporters. It imports only the events and replies of `providers`.
"""
