"""Exceptions that the command line turns into one sentence and an exit status."""


class UserError(Exception):
    """Something the user can put right.

    The message is one sentence that says what is wrong, where, and what to do. The command line
    prints it without a traceback and exits with status 2.
    """


class StopRequested(Exception):
    """A signal asked a long job to stop; its state is saved and the same command goes on.

    The command line prints the message and exits with status 75 (EX_TEMPFAIL of sysexits.h).
    """
