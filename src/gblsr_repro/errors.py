"""The one exception for mistakes that a user can mend."""


class UserError(Exception):
    """Something the user can put right.

    The message is one sentence that says what is wrong, where, and what to do. The command line
    prints it without a traceback and exits with status 2.
    """
