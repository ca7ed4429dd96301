// Called by a call of this process when it reaches the MPI library.
#pragma once

extern void (*late_ranks_inside)(int starts);  // starts: another call ends what it starts
