"""What is shown of a response: its tokens, its tree, where the grammar refused it, and what a stream knows of it.

`view.show` reads a response and returns a `View`, which is made of the steps that the engine logs. The commands
`outspoken explain` and `outspoken grammar show` draw it as `lines`, `page` as a page.
"""
