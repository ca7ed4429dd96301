"""What a Python program can say of itself, for the profile over time: as ardoise.h for C, which has the details.

    import ardoise
    for step in range(1, steps + 1):
        with ardoise.phase("solve"):
            ardoise.value("residual", solve())
        ardoise.snapshot("step", step)

Where the program runs without Ardoise, nothing happens.
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


def _tell(kind, name, number=0, x=0.0):
    if _mark is not None:
        _mark(kind, str(name).encode(), number, x)


def snapshot(name, number):
    """Here ends one piece of the profile: all since the snapshot of this name before it, or since MPI_Init."""
    _tell(1, name, int(number))


def phase_begin(name):
    """What lies between this and phase_end(name) is told apart, each time and in sum."""
    _tell(2, name)


def phase_end(name):
    _tell(3, name)


@contextlib.contextmanager
def phase(name):
    """A phase that lasts as long as the block."""
    phase_begin(name)
    try:
        yield
    finally:
        phase_end(name)


def value(name, x):
    """How often, mean, least and greatest are told for each snapshot and phase that is open."""
    _tell(4, name, 0, float(x))
