"""Names of torch that xgrammar and tvm_ffi mention when they are imported; see `tests.constraints.engines`.

None of them works."""


class Tensor:
    """A tensor."""


class Anything:
    """Whatever else is asked for: a type of numbers, a device, or a decorator."""

    def __call__(self, *_args: object, **_options: object) -> "Anything":
        return self

    def __getattr__(self, name: str) -> "Anything":
        return self


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
