"""Prints the cost of Python's frames in a sample: python_sample.py LIBRARY"""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
native, merged = ctypes.c_double(), ctypes.c_double()


def down(level):
    if level > 0:
        return down(level - 1)
    return library.measure_python_sample(ctypes.byref(native), ctypes.byref(merged))


print("frames  native stack    with Python   added   ratio")
for level in (0, 14, 62, 200):
    frames = down(level)
    if frames == 0:
        sys.exit("no Python that is known")
    if level == 14:
        figure = merged.value / 1e3
    print("%6d  %9.2f us  %10.2f us  %5.2f us  %5.2f" % (frames, native.value / 1e3, merged.value / 1e3,
                                                       (merged.value - native.value) / 1e3, merged.value / native.value))
print("bench: python_sample_us=%.2f" % figure)
