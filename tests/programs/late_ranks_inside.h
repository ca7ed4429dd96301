// What a call of this process calls when it has reached the MPI library.
#pragma once

extern void (*late_ranks_inside)(int starts);  // starts: another call ends what it starts
