"""Standard streams that are closed, as by `>&-`."""

import os


def reserve_closed_streams() -> None:
    """Give a standard stream that is closed a place where nothing is kept.

    Otherwise the next file that is opened would take its number, and what other code prints would go into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the first free number: this one
            os.set_inheritable(number, True)
