"""The parser: it walks the automaton over text, whole or in chunks, and calls the builder.

`Parser` is made of parts that own their state: `TextBuffer` (the text), `ParserState` (where the parser is),
`SingleSteps` (markers, free text and values), `RecoveryDriver` (damaged segments) and `RecoveryBudget`.

A `ParserPolicy` decides what differs between readers.

Knows no format by name. Detection, payloads and `parsing` use it. May import the rooms from `results` to `recovery`.
"""
