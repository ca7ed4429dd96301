// The survivor: a process that outlives the program with all of the program's memory. It is a child by clone(2) that
// shares the address space like a thread, but is a process and a session of its own. Signals to the program or its
// group, faults in it, and mpirun's SIGKILL do not reach it. It sleeps until the program has ended in any way. The
// program's memory is then as at its last instruction, and the survivor writes out the records that were not sent.
// Recording has no extra cost, and the program sees no trace of it: no descriptor, thread, signal or child to wait for.
// (LeakSanitizer inspects processes the same way.)
//
//   MPI_Init ── start_survivor() ──▶ clone ─▶ clone ─▶ sleeps in poll(pidfd of the program), checks periodically
//   MPI_Finalize ── dismiss_survivor()                       │ the program has ended
//                                                            ▼ not dismissed: after_death()
//
// after_death() runs alone: no other thread exists, and threads that died inside a lock still hold it. It must free
// this library's locks (force_unlock()) and must not take those of the C library; its operator new takes none
// (survivor_memory). If it hangs or faults nevertheless, it ends after ten seconds or at once, and its output is lost.
//
// For x86-64, if the main thread calls MPI_Init, since it uses the thread-local memory of that thread. Not under
// valgrind, which does not support such a child.
#pragma once

namespace ardoise::instrument {

struct SurvivorTasks {
  // See above. wait_status: the end of the program in the format of waitpid(2); -1: not known.
  void (*after_death)(int wait_status) noexcept = nullptr;
  // Called periodically while the program lives, also after dismiss_survivor(), and once after it ended; nullptr:
  // never. Runs beside the program's threads: see process_state_writer.hpp.
  void (*check)() noexcept = nullptr;
  void (*end_checks)() noexcept = nullptr;
  long check_milliseconds = 0;
};

// Called once, in MPI_Init. If the survivor cannot start, the program runs without one.
void start_survivor(const SurvivorTasks& tasks) noexcept;

// Nothing remains to be written.
void dismiss_survivor() noexcept;

// Called before the program gives up rights that the survivor would keep, with access to the program's memory. Returns
// when the survivor, a process of its own that handles no signals, has ended. Does nothing in children of the program.
void end_survivor() noexcept;

// From now on operator new uses a separate region of at most 1 GiB, and operator delete does nothing.
void allocate_without_locks() noexcept;

}  // namespace ardoise::instrument
