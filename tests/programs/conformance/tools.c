/* The tool interface used by the program itself: MPI_T, and MPI by its profiling names, which must see the same world. */
#include <string.h>

#include "conformance.h"

static void control_variables(void) {
  char name[256], description[1024];
  int count, bound = 0, length, description_length, verbosity, bind, scope, index, value_count;
  int found = 0, again = 0; /* Open MPI writes one byte of a boolean variable */
  MPI_Datatype type;
  MPI_T_enum values;
  MPI_T_cvar_handle handle;
  MPI_T_cvar_get_num(&count);
  say("control variables %d", count > 0);
  for (int i = 0; i < count; ++i) {
    length = sizeof name;
    description_length = sizeof description;
    if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &values, description, &description_length, &bind,
                            &scope) != MPI_SUCCESS)
      continue;
    if (bind != MPI_T_BIND_NO_OBJECT) ++bound;
    if (strcmp(name, "mpi_param_check") != 0 && strcmp(name, "MPIR_CVAR_BCAST_MIN_PROCS") != 0) continue;
    MPI_T_cvar_get_index(name, &index);
    MPI_T_cvar_handle_alloc(i, NULL, &handle, &value_count);
    MPI_T_cvar_read(handle, &found);
    say("%s at %d: bound %d, %d value %d", name, index == i, bind, value_count, found);
    if (scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY) {
      MPI_T_cvar_write(handle, &found);
      MPI_T_cvar_read(handle, &again);
      say("written %d", again == found);
    }
    MPI_T_cvar_handle_free(&handle);
  }
  say("bound ones %d", bound);
}

/* Variables bound to a communicator, on each of them. */
static void performance_variables(void) {
  char name[256], description[1024];
  int count, length, description_length, verbosity, class, bind, readonly, continuous, atomic, values, bound = 0, index;
  MPI_Datatype type;
  MPI_T_enum enumeration;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    length = sizeof name;
    description_length = sizeof description;
    if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &enumeration, description, &description_length,
                            &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        bind != MPI_T_BIND_MPI_COMM)
      continue;
    ++bound;
    MPI_T_pvar_get_index(name, class, &index);
    for (int j = 0; j < kIntra; ++j) {
      char room[4096] = {0}; /* as many values as the communicator has processes */
      const int allocated = MPI_T_pvar_handle_alloc(session, i, &intra[j].comm, &handle, &values);
      say("%s on %s: %d, values %d, index %d", name, intra[j].name, allocated == MPI_SUCCESS,
          allocated == MPI_SUCCESS ? values : -1, index == i);
      if (allocated != MPI_SUCCESS) continue;
      if (!continuous) MPI_T_pvar_start(session, handle);
      if (values <= 64) MPI_T_pvar_read(session, handle, room);
      if (!readonly) MPI_T_pvar_reset(session, handle);
      if (!continuous) MPI_T_pvar_stop(session, handle);
      MPI_T_pvar_handle_free(session, &handle);
    }
  }
  say("performance variables bound to a communicator: %d", bound);
  MPI_T_pvar_session_free(&session);
}

static void categories(void) {
  char name[256], description[1024];
  int count, length = sizeof name, description_length = sizeof description, cvars, pvars, inner, stamp, index;
  MPI_T_category_get_num(&count);
  MPI_T_category_changed(&stamp);
  if (count == 0) return;
  MPI_T_category_get_info(0, name, &length, description, &description_length, &cvars, &pvars, &inner);
  MPI_T_category_get_index(name, &index);
  say("category %s at %d", name, index);
}

static void profiling_names(const Named* named) {
  int rank = -1, size = -1, sum = -1, length, relation, got = -1, kind, room;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm made;
  MPI_Group group, world;
  PMPI_Comm_rank(named->comm, &rank);
  PMPI_Comm_size(named->comm, &size);
  say("PMPI on %s: %d of %d", named->name, rank, size);
  PMPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, named->comm);
  PMPI_Barrier(named->comm);
  PMPI_Sendrecv(&world_rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5,
                named->comm, MPI_STATUS_IGNORE);
  PMPI_Pack_size(3, MPI_INT, named->comm, &room);
  say("sum %d, got %d, room %d", sum, got, room);
  PMPI_Comm_dup(named->comm, &made);
  PMPI_Comm_compare(named->comm, made, &relation);
  say("duplicate congruent %d", relation == MPI_CONGRUENT);
  MPI_Comm_free(&made);
  PMPI_Comm_split(named->comm, 0, -rank, &made);
  MPI_Comm_rank(made, &rank);
  say("reversed %d", rank);
  PMPI_Comm_free(&made);
  PMPI_Comm_group(named->comm, &group);
  MPI_Comm_group(named->comm, &world);
  MPI_Group_compare(group, world, &relation);
  say("group identical %d", relation == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  PMPI_Comm_get_name(named->comm, name, &length);
  PMPI_Topo_test(named->comm, &kind);
  say("named as the world %d, no topology %d", strcmp(name, "MPI_COMM_WORLD") == 0, kind == MPI_UNDEFINED);
}

void tools(void) {
  int provided, *value, found, flag;
  for (int i = 0; i < kIntra; ++i) profiling_names(&intra[i]);
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  say("bound of tags %d %d", found, found ? *value : -1);
  PMPI_Comm_compare(MPI_COMM_WORLD, intra[0].comm, &found);
  say("the world is itself %d", found == MPI_IDENT);
  say("the world in Fortran %d", PMPI_Comm_f2c(PMPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  PMPI_Initialized(&flag);
  say("initialised %d, time %d", flag, PMPI_Wtime() > 0);
  say("control %d", MPI_Pcontrol(1));
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  control_variables();
  performance_variables();
  categories();
  MPI_T_finalize();
}
