/* The library that is opened late. */
#include "truth_spin.h"

__attribute__((noinline, visibility("default"))) void truth_late(int units) { truth_spin(units); }
