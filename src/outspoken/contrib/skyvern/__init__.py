"""Skyvern's API responses: the JSON object with actions that each of its prompts asks for."""
