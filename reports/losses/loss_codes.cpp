#include <algorithm>

#include "reports/losses/loss.hpp"

namespace ardoise::reports {

const std::vector<LossCode>& loss_codes() {
  using enum Actor;
  static const std::vector<LossCode> kCodes{
      // Uneven work.
      {"late.static", "The same ranks always work longer",
       "Repartition the work with measured weights, or move that work to ranks that wait.", program},
      {"late.moving", "The slowest rank changes from iteration to iteration",
       "Rebalance every few iterations, or hand out the work in smaller tasks on demand.", program},
      {"late.periodic", "A rank has more work in every n-th iteration",
       "Spread that work over the iterations, or over the ranks.", program},
      {"late.growing", "A rank needs more time from iteration to iteration",
       "Repartition the work when the largest part exceeds a limit.", program},
      {"late.phase", "The balance changes once during the run", "Repartition the work at that point.", program},
      {"late.turns", "Different ranks have more work in different parts of an iteration",
       "Remove the synchronisation between these parts (a barrier), so that the differences cancel out; or balance "
       "each "
       "part.",
       program},
      {"late.group", "A group of ranks has more work than the others",
       "Size the groups in proportion to their work, or spread this work over all ranks.", program},
      {"late.node", "All ranks of a host are slower for the same work",
       "Check that host, or leave it out: the same work takes longer there.", system},
      {"late.numa", "The rank at the same position of every host is slower",
       "Bind ranks and their memory to the same part of the host, and spread them evenly over it.", launch},
      {"late.noise", "Random delays make another rank late each time",
       "Synchronise less often, or hand out work on demand, so that delays of different ranks overlap.", program},
      {"late.comm", "Some ranks communicate more than the others",
       "Cut the domain so that all ranks have about as many neighbours and bytes.", program},
      {"late.asleep", "A rank sleeps or is blocked while others wait for it",
       "Remove the pause, or find out what this rank is blocked by.", program},
      // Sequential dependence.
      {"serial.rank", "One rank works alone while the others wait", "Spread this work over all ranks.", program},
      {"chain.serial", "Ranks work one after the other",
       "Remove the dependence of each rank on its predecessor, or use a collective (MPI_Scan, MPI_Reduce).", program},
      {"chain.fill", "A pipeline between ranks is idle at both ends",
       "Pass the work on in smaller blocks, so that the next rank can begin earlier.", program},
      {"chain.grain", "The blocks of a pipeline are too small", "Pass on several blocks with one message.", program},
      {"chain.ring", "Blocking messages go round in turn",
       "Post the receives first (MPI_Irecv), or use MPI_Sendrecv, so that all transfers run at the same time.",
       program},
      {"chain.token", "A permission goes from rank to rank",
       "Give each rank a region of its own, or replace the permission by an atomic operation (MPI_Fetch_and_op).",
       program},
      {"order.recv", "Messages are taken in a fixed order",
       "Take messages in the order in which they arrive (MPI_Waitany, MPI_Waitsome, MPI_ANY_SOURCE).", program},
      {"order.late_receiver", "Senders wait for late receives",
       "Post the receive earlier (MPI_Irecv), or send with MPI_Isend and wait later.", program},
      {"msg.head", "One late message holds back finished ones",
       "Handle each message as soon as it is there (MPI_Waitsome in place of MPI_Waitall).", program},
      {"hub.root", "One rank takes the messages of all others",
       "Combine the values on the way with a collective (MPI_Reduce, MPI_Gather), or through a tree.", program},
      {"hub.master", "A master cannot keep up with its workers",
       "Hand out larger tasks, and send the next task before the last one is done; or use several masters.", program},
      {"hub.tail", "The last tasks end at different times",
       "Hand out long tasks first, and smaller ones towards the end.", program},
      {"rma.lock", "Ranks wait for the lock of a window",
       "Replace lock and update by an atomic operation (MPI_Fetch_and_op), or spread the data over several ranks.",
       program},
      {"rma.progress", "One-sided operations wait for a target that works",
       "Let the target call MPI from time to time in its work (MPI_Iprobe), put the data on a rank that does not "
       "compute, or allocate the window with MPI_Win_allocate; make fewer of these operations.",
       program},
      // Progress and order of transfers.
      {"prog.false_overlap", "A transfer is started and waited for at once",
       "Move the wait behind work that does not need the data.", program},
      {"prog.none", "Transfers move only while the rank waits for them",
       "Let MPI progress on its own (a progress thread of the MPI library), or call MPI_Test during the work.", launch},
      // Cost of calls.
      {"ovh.tiny", "Many small messages", "Pack the messages for a rank into one.", program},
      {"ovh.element", "A collective for each element", "Make one call for the whole array.", program},
      {"ovh.fuse", "Several small collectives one after the other", "Put the values into one array and make one call.",
       program},
      {"ovh.hand", "A collective made of single messages",
       "Use the collective operation of MPI (MPI_Bcast, MPI_Scatter): it sends along a tree.", program},
      {"ovh.toobig", "A collective in which nearly all ranks send nothing",
       "Use a neighbourhood collective, single messages, or a smaller communicator.", program},
      {"ovh.alltoall", "All ranks exchange data with all others",
       "Exchange fewer bytes or with fewer ranks, or overlap it with work (MPI_Ialltoall).", program},
      {"ovh.create", "Communicators, windows or types are made in the loop",
       "Make them once before the loop, and use them again.", program},
      {"ovh.objects", "Python objects as messages",
       "Send only what is new to the receiver, and arrays with the functions in capitals (Send, Recv, Bcast, "
       "Allreduce), which take memory as it is; make one call for all values.",
       program},
      {"ovh.programs", "Other programs are started in the loop",
       "Call a library in place of the program, or start one that serves all steps (through a pipe); or prepare its "
       "results before the run.",
       program},
      {"ovh.types", "Data types of many small pieces",
       "Store what is exchanged contiguously, or copy it into a buffer where it is computed; or describe longer "
       "blocks.",
       program},
      {"ovh.volume", "Messages take their time for their bytes", "Send fewer bytes, or overlap the transfer with work.",
       program},
      {"ovh.collective", "Collective operations cost more than the waiting for their ranks",
       "Make fewer calls with more data, or let them run during work (MPI_Iallreduce).", program},
      {"ovh.calls", "MPI calls on the critical path", "Make fewer of these calls.", program},
      {"poll.busy", "Ranks test again and again whether a message is there",
       "Wait with MPI_Wait if there is nothing else to do; else test less often, after every n-th piece of work.",
       program},
      {"poll.sleep", "Ranks sleep between two tests", "Wait with MPI_Wait, or sleep for a shorter time.", program},
      {"poll.probe", "A probe before each receive", "Receive without the probe where size and sender are known.",
       program},
      {"place.ranks", "Ranks that exchange most are on different hosts",
       "Place these ranks on the same host (mpirun --map-by, a rankfile, or MPI_Cart_create with reorder).", launch},
      {"sync.barrier", "Barriers in front of calls that synchronise anyway", "Remove the barrier.", program},
      // Files.
      {"io.small", "Small reads and writes", "Buffer, and read or write blocks of a megabyte or more.", program},
      {"io.text", "Numbers as text in files",
       "Write and read binary data (whole arrays with fwrite, MPI-IO, HDF5 or NetCDF); keep text for a few values.",
       program},
      {"io.random", "Accesses at random or strided positions",
       "Sort and merge the accesses, or describe the pattern with MPI_File_set_view and access together.", program},
      {"io.independent", "Each rank accesses a shared file on its own",
       "Use the collective call (MPI_File_write_at_all, MPI_File_read_at_all): MPI combines the accesses.", program},
      {"io.lock", "Ranks wait for locks of files",
       "Give each rank a file or a part of its own, which needs no lock, or let one rank write for the others.",
       program},
      {"io.meta", "Files are opened again and again", "Open each file once, and keep it open.", program},
      {"io.nn", "Many small files", "Put the data of many files, or of several ranks, into one file.", program},
      {"io.rank0", "One rank does the file I/O of all",
       "Let all ranks write their part (MPI-IO, or parallel HDF5 or NetCDF).", program},
      {"io.reread", "All ranks read the same data",
       "Let one rank read and distribute it with MPI_Bcast; if each rank needs a part, use MPI_File_read_at_all.",
       program},
      {"io.uneven", "Some ranks read or write more than the others", "Balance the bytes of the ranks.", program},
      {"io.log", "A log in the loop", "Keep the file open, buffer the lines, and flush rarely.", program},
      {"io.stdout", "Many ranks print", "Print from one rank, and rarely.", program},
      {"io.sync", "Data is forced to the disk", "Flush to the disk only where the data must survive a crash.", program},
      {"io.checkpoint", "Output or checkpoints stop the ranks",
       "Write less often, or write while the ranks compute (non-blocking MPI-IO, a thread).", program},
      {"io.volume", "Reading and writing of data", "Move fewer bytes, or move them while the ranks compute.", program},
      // The host.
      {"node.oversub", "More runnable threads than processors", "Start fewer ranks or threads on each host.", launch},
      {"node.foreign", "Other load takes processors away",
       "Use a host without other load, or give each program of the launch processors of its own.", system},
      {"node.bind", "Threads share processors while others of the host are not used",
       "Give each rank a processor for each of its threads (mpirun --map-by slot:PE=n), or set OMP_NUM_THREADS.",
       launch},
      {"mem.faults", "The kernel works for the program",
       "Allocate memory once and use it again: fresh pages cost a fault each; make fewer system calls.", program},
      {"mem.alloc", "Allocating and freeing of memory", "Allocate outside of loops, and use the memory again.",
       program},
      // Threads.
      {"thr.serial", "Threads have no work", "Make this part parallel over threads too, or use fewer threads.",
       program},
      {"thr.uneven", "Threads end their parts at different times",
       "Let idle threads take work (schedule(dynamic) or schedule(guided)), or split it into equal parts.", program},
      {"thr.fine", "Parallel regions of threads are too short",
       "Make one region of several (omp parallel around the loop, omp for inside), or run short loops with one thread "
       "(if clause).",
       program},
      {"thr.start", "Threads are started again and again",
       "Start the threads once, and let them wait for work (a pool of threads, OpenMP); or give each a larger part.",
       program},
      {"thr.lock", "Threads wait for locks", "Hold locks for a shorter time, or give each thread data of its own.",
       program},
      // The work itself.
      {"cpu.growing", "All ranks work longer from iteration to iteration",
       "Look for data that grows with the steps and is searched or copied as a whole: keep what a step needs (the last "
       "value, an index, a window). If nothing grows, numbers may have become denormal: flush them to zero.",
       program},
      {"cpu.hot", "Most work is in one place", "", program},
  };
  return kCodes;
}

const LossCode* find_loss_code(std::string_view code) {
  const auto& all = loss_codes();
  const auto found = std::ranges::find(all, code, &LossCode::code);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace ardoise::reports
