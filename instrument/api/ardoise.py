"""Marks that a Python program sets for the profile over time. ardoise.h, for C, has the details.

    import ardoise
    for step in range(1, steps + 1):
        with ardoise.phase("solve"):
            ardoise.value("residual", solve())
        ardoise.snapshot("step", step)

The functions do nothing if the program runs without Ardoise.
"""
import contextlib
import ctypes


def _find():
    try:
        mark = ctypes.CDLL(None).ardoise_mark
    except (AttributeError, OSError):
        return None
    mark.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_longlong, ctypes.c_double]
    mark.restype = None
    return mark


_mark = _find()


def _set(kind, name, number=0, x=0.0):
    if _mark is not None:
        _mark(kind, str(name).encode(), number, x)


def snapshot(name, number):
    """Ends a section of the profile, which began at the previous snapshot of this name, or at MPI_Init."""
    _set(1, name, int(number))


def phase_begin(name):
    """The profile shows the time until phase_end(name) separately, each time and in sum."""
    _set(2, name)


def phase_end(name):
    _set(3, name)


@contextlib.contextmanager
def phase(name):
    """A phase that lasts as long as the block."""
    phase_begin(name)
    try:
        yield
    finally:
        phase_end(name)


def value(name, x):
    """A value: each snapshot and each open phase gets its count, mean, minimum and maximum."""
    _set(4, name, 0, float(x))
