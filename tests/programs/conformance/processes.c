/* Process creation: programs that spawn others, that publish a name, connect and accept, and that join over a socket.
 * conformance_processes <folder>, with two processes; the spawned ones are the same program, told "child". */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conformance.h"

enum { kLine = 200 };

static const char* relation(MPI_Comm a, MPI_Comm b) {
  int result;
  MPI_Comm_compare(a, b, &result);
  return result == MPI_IDENT ? "identical" : result == MPI_CONGRUENT ? "congruent" : "different";
}

/* A spawned process has a world of its own, made of those spawned with it, and sends its view to its parent. */
static void child(const char* name) {
  MPI_Comm parent, merged;
  char line[kLine], text[MPI_MAX_OBJECT_NAME];
  int remote, length, *number = NULL, found = 0, sum = 0, sent, one = 1;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_remote_size(parent, &remote);
  MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  snprintf(line, sizeof line, "%s %d of %d (%d), parents %d, world %s \"%s\", program %d, preload %d", name, world_rank,
           world_size, sum, remote, relation(MPI_COMM_WORLD, MPI_COMM_WORLD), text, found ? *number : -1,
           getenv("LD_PRELOAD") != NULL);
  MPI_Send(line, kLine, MPI_CHAR, 0, 1, parent);
  MPI_Bcast(&sent, 1, MPI_INT, 0, parent);
  MPI_Intercomm_merge(parent, 1, &merged);
  MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&parent);
}

/* The parents' side of `inter`. */
static void with_children(const char* what, MPI_Comm comm, MPI_Comm inter, int count, const int* codes) {
  MPI_Comm merged;
  char line[kLine];
  int rank, size, remote, value = 7, sum;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_remote_size(inter, &remote);
  for (int i = 0; i < count; ++i) say("%s: started %d", what, codes[i] == MPI_SUCCESS);
  for (int i = 0; i < remote && rank == 0; ++i) {
    MPI_Recv(line, kLine, MPI_CHAR, i, 1, inter, MPI_STATUS_IGNORE);
    say("%s: %s", what, line);
  }
  MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  MPI_Intercomm_merge(inter, 0, &merged);
  MPI_Comm_size(merged, &size);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, merged);
  say("%s: remote %d, merged %d, sum %d", what, remote, size, sum);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
}

static void spawn(char* program) {
  MPI_Comm inter, duplicate;
  int codes[2];
  char* arguments[] = {"child", "one of world", NULL};
  char* of_self[] = {"child", "of self", NULL};
  char *first[] = {"child", "first", NULL}, *second[] = {"child", "second", NULL};
  char** all_arguments[] = {first, second};
  char* programs[] = {program, program};
  const int counts[] = {1, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
  with_children("spawn on world", MPI_COMM_WORLD, inter, 2, codes);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_spawn_multiple(2, programs, all_arguments, counts, infos, 1, duplicate, &inter, codes);
  with_children("spawn_multiple on duplicate", duplicate, inter, 2, codes);
  MPI_Comm_free(&duplicate);
  if (world_rank == 1) {
    MPI_Comm_spawn(program, of_self, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, codes);
    with_children("spawn on self", MPI_COMM_SELF, inter, 1, codes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* One process accepts, the other connects: by a published name, then by the port itself. */
static void connect_and_accept(void) {
  char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "", service[64];
  MPI_Comm inter;
  long id = (long)getpid();
  int value = 40 + world_rank, got = -1, class;
  MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  snprintf(service, sizeof service, "conformance-%ld", id);
  for (int by_name = 0; by_name < 2; ++by_name) {
    if (world_rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      if (by_name) MPI_Publish_name(service, MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (world_rank == 1 && by_name) {
      MPI_Lookup_name(service, MPI_INFO_NULL, found);
      say("looked up the same %d", strcmp(found, port) == 0);
    }
    if (world_rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    if (world_rank == 1) MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
    say("connected: got %d", got);
    MPI_Comm_disconnect(&inter);
    if (world_rank == 0) {
      if (by_name) MPI_Unpublish_name(service, MPI_INFO_NULL, port);
      MPI_Close_port(port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Lookup_name("nobody's name", MPI_INFO_NULL, found), &class);
  say("nobody's name: %d", class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void join(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  MPI_Comm inter;
  int got = -1, connection;
  const int wanted = socket(AF_INET, SOCK_STREAM, 0);
  if (world_rank == 0) {
    bind(wanted, (struct sockaddr*)&address, sizeof address);
    listen(wanted, 1);
    getsockname(wanted, (struct sockaddr*)&address, &length);
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
  connection = world_rank == 0 ? accept(wanted, NULL, NULL) : wanted;
  if (world_rank == 1 && connect(wanted, (struct sockaddr*)&address, sizeof address) != 0) say("no connection");
  MPI_Comm_join(connection, &inter);
  if (inter == MPI_COMM_NULL) {
    say("not joined");
  } else {
    MPI_Sendrecv(&world_rank, 1, MPI_INT, 0, 4, &got, 1, MPI_INT, 0, 4, inter, MPI_STATUS_IGNORE);
    say("joined: got %d", got);
    MPI_Comm_disconnect(&inter);
  }
  if (connection != wanted) close(connection);
  close(wanted);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (argc > 2 && strcmp(argv[1], "child") == 0) {
    child(argv[2]);
    MPI_Finalize();
    return 0;
  }
  if (world_size != 2) {
    if (world_rank == 0) fprintf(stderr, "conformance_processes: run me with 2 processes, not %d\n", world_size);
    MPI_Finalize();
    return 2;
  }
  MPI_Comm_get_parent(&parent);
  say("no parent %d", parent == MPI_COMM_NULL);
  spawn(argv[0]);
  connect_and_accept();
  join();
  print_lines("processes");
  MPI_Finalize();
  return 0;
}
