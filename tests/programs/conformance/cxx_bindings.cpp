// The C++ bindings of MPI (MPI-2, removed in MPI-3), where the library still has them: what their callbacks are handed.
// A file folder is given to every conformance program; this one needs none.
#include <mpi.h>

#include <cstdio>

namespace {

const MPI::Comm* expected = nullptr;
const char* expected_name = "";
int errors = 0;

void on_error(MPI::Comm& comm, int* code, ...) {
  std::printf("handler on %s: the expected one %d, the world %d, of %d, class %d\n", expected_name, comm == *expected,
              comm == MPI::COMM_WORLD, comm.Get_size(), MPI::Get_error_class(*code));
  ++errors;
}
int on_copy(const MPI::Comm& from, int, void* extra, void* in, void* out, bool& flag) {
  std::printf("copy from the world %d of %d: %d, extra %d\n", from == MPI::COMM_WORLD, from.Get_size(),
              *static_cast<int*>(in), *static_cast<int*>(extra));
  *static_cast<void**>(out) = in;
  flag = true;
  return MPI::SUCCESS;
}
int on_delete(MPI::Comm& comm, int, void* value, void* extra) {
  std::printf("delete of the world %d of %d: %d, extra %d\n", comm == MPI::COMM_WORLD, comm.Get_size(),
              *static_cast<int*>(value), *static_cast<int*>(extra));
  return MPI::SUCCESS;
}

void handle_errors(MPI::Comm& comm, const char* name, const MPI::Errhandler& handler) {
  expected = &comm;
  expected_name = name;
  comm.Set_errhandler(handler);
  comm.Call_errhandler(MPI::ERR_OTHER);
  int value = 0;
  comm.Send(&value, 1, MPI::INT, 1000, 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const bool first = MPI::COMM_WORLD.Get_rank() == 0;
  MPI::Intracomm duplicate = MPI::COMM_WORLD.Dup();
  if (first) {
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_error);
    handle_errors(MPI::COMM_WORLD, "the world", handler);
    handle_errors(duplicate, "a duplicate", handler);
    handle_errors(MPI::COMM_SELF, "self", handler);
    handler.Free();
  } else {
    std::fclose(stdout);  // one process says it
  }
  duplicate.Free();

  int value = 17, extra = 4;
  int keyval = MPI::Comm::Create_keyval(on_copy, on_delete, &extra);
  MPI::COMM_WORLD.Set_attr(keyval, &value);
  duplicate = MPI::COMM_WORLD.Dup();
  void* found = nullptr;
  const bool there = duplicate.Get_attr(keyval, &found);
  if (first) std::printf("copied %d, errors handled %d\n", there && found == &value, errors);
  duplicate.Free();
  MPI::COMM_WORLD.Delete_attr(keyval);
  MPI::Comm::Free_keyval(keyval);
  MPI::Finalize();
  if (first) std::printf("finalised: %d\n", MPI::Is_finalized());
  return 0;
}
