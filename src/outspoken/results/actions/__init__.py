"""The models of GUI actions. `outspoken.actions` exports them; only the parts of the library import them from here."""
