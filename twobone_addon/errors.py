"""What can be wrong with a request, one class per thing a person can put right.

Every message is one sentence or two: what is wrong, what was found, how to put it right.
Operators show it, the command line prints it, and nothing has been changed when it is raised.
"""


class TwoBoneError(Exception):
    """A request that cannot be carried out; the message says what to do about it."""


class SettingError(TwoBoneError):
    """A setting has a value that has no meaning (not a number, out of range, unknown name)."""
