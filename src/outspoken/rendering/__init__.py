"""Results back to text: `render` writes calls and actions as a format writes them.

`messages` gives the message that a response template describes. May import the rooms from `results` to `parsing`.
"""
