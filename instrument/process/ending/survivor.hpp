// A process that outlives the program's with all its memory: a child by clone(2) that shares the address space, as a
// thread does, but is a process and a session of its own. Neither a signal to the program or its group, nor a fault in
// it, nor mpirun's SIGKILL reaches it. It sleeps until the program has ended, however that was; what the program had
// recorded and not sent then lies before it as at the last instruction, and is written out. Recording pays nothing for
// it, and nothing of it is to be found in the program: no descriptor, no thread, no signal, no child to wait for.
// (LeakSanitizer looks at a process in the same way.)
//
//   MPI_Init ── start_survivor() ──▶ clone ─▶ clone ─▶ sleeps in poll(pidfd of the program), looks now and then
//   MPI_Finalize ── dismiss_survivor()                       │ the program has ended
//                                                            ▼ not dismissed: after_death()
//
// after_death() runs alone: no other thread is there, and locks are held by whoever died inside. It must free ours
// (force_unlock()), and may not take those of the C library; operator new is ours and takes none
// (survivor_memory). What hangs or faults in it nevertheless ends after ten seconds, or at once, and costs what was to
// be written.
//
// For x86-64, and where MPI_Init is called by the main thread, whose thread-local memory it uses. Not under valgrind,
// which knows no such child.
#pragma once

namespace ardoise::instrument {

struct SurvivorTasks {
  // See above; it is told how the program ended, as waitpid(2) would: -1: not known.
  void (*after_death)(int wait_status) noexcept = nullptr;
  // Every so often while the program lives, also after dismiss_survivor(), and once when it has ended; nullptr: never.
  // Beside the program's threads: see standing.hpp.
  void (*look)() noexcept = nullptr;
  void (*look_no_more)() noexcept = nullptr;
  long look_milliseconds = 0;
};

// Once, in MPI_Init. Where there can be none, the program goes on without.
void start_survivor(const SurvivorTasks& tasks) noexcept;

// There is nothing to write any more.
void dismiss_survivor() noexcept;

// Before the program gives up rights that the survivor would keep, with the program's memory in reach. Returns when it
// has ended: a process of its own that handles no signals; does nothing in children of the program.
void end_survivor() noexcept;

// From now on operator new takes from memory of its own, at most 1 GiB, and operator delete does nothing.
void allocate_without_locks() noexcept;

}  // namespace ardoise::instrument
