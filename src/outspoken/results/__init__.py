"""What a caller receives: replies, segments, events, diagnostics, errors; and the settings that a caller passes.

Every other room may import from here. Imports nothing from the rest of the package.
"""
