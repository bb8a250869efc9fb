"""Names of transformers that xgrammar mentions when it is imported; see `tests.constraints.engines`."""


class PreTrainedTokenizerBase:
    """A tokenizer."""


class PreTrainedTokenizerFast(PreTrainedTokenizerBase):
    """A fast tokenizer."""


class LogitsProcessor:
    """What changes the logits of a model."""
