"""What can be wrong with a request, one class per thing a person can put right.

Every message is one sentence or two: what is wrong, what was found, how to put it right.
Operators show it, the command line prints it, and nothing has been changed when it is raised.
"""


class TwoBoneError(Exception):
    """A request that cannot be carried out; the message says what to do about it."""


class SettingError(TwoBoneError):
    """A setting has a value that has no meaning (not a number, out of range, unknown name)."""


class SelectionError(TwoBoneError):
    """What is selected does not say which chain is meant."""


class ChainError(TwoBoneError):
    """The named bones do not form a chain."""


class ObjectError(TwoBoneError):
    """A named object is missing or of the wrong kind."""


class DependencyError(TwoBoneError):
    """The target hangs from the chain that is to follow it."""


class WriteError(TwoBoneError):
    """The place where the keys should go cannot take them."""


class RangeError(TwoBoneError):
    """The frames to bake cannot be found."""
