// What a collective of this process calls when it has reached the MPI library.
#pragma once

extern void (*late_ranks_inside)(void);
