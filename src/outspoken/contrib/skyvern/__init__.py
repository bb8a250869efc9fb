"""Skyvern's API responses: the JSON object that each of its prompts asks for, and the errors if it is missing."""

from .api_response import *  # noqa: F403
from .api_response import __all__ as __all__
