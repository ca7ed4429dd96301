/* Groups, communicators, intercommunicators: how they are made, compared, named, and what belongs to them. */
#include <string.h>

#include "conformance.h"

static const char* relation_of(int relation) {
  return relation == MPI_IDENT       ? "identical"
         : relation == MPI_CONGRUENT ? "congruent"
         : relation == MPI_SIMILAR   ? "similar"
                                     : "unequal";
}

static void describe(const char* name, MPI_Comm comm) {
  char text[MPI_MAX_OBJECT_NAME];
  int rank, size, inter, remote = -1, length, own, translated, zero = 0;
  MPI_Group group, other;
  if (comm == MPI_COMM_NULL) {
    say("%s: null", name);
    return;
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_get_name(comm, text, &length);
  /* Without a name MPI gives a text of its own, with a number of the process's communicators: not compared. */
  say("%s: rank %d of %d, inter %d, is world %d, named world %d", name, rank, size, inter, comm == MPI_COMM_WORLD,
      strcmp(text, "MPI_COMM_WORLD") == 0);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_group(comm, &other);
  MPI_Group_rank(other, &own);
  MPI_Group_translate_ranks(other, 1, &zero, group, &translated);
  say("%s: rank in group %d, its first is %d of the world", name, own, translated);
  MPI_Group_free(&other);
  if (inter) {
    MPI_Comm_remote_size(comm, &remote);
    MPI_Comm_remote_group(comm, &other);
    MPI_Group_translate_ranks(other, 1, &zero, group, &translated);
    say("%s: remote %d, its first is %d of the world", name, remote, translated);
    MPI_Group_free(&other);
  }
  MPI_Group_free(&group);
}

static void groups(void) {
  MPI_Group world, even, odd, result;
  int ranks[4] = {2, 0, 1, 3}, translated[4], size, rank, relation;
  int range[1][3] = {{3, 0, -1}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int evens[2] = {0, 2};
  MPI_Group_incl(world, 2, evens, &even);
  MPI_Group_excl(world, 2, evens, &odd);
  const struct {
    const char* name;
    int (*call)(MPI_Group, MPI_Group, MPI_Group*);
  } pairs[] = {{"union", MPI_Group_union}, {"intersection", MPI_Group_intersection}, {"difference", MPI_Group_difference}};
  for (int i = 0; i < 3; ++i) {
    pairs[i].call(even, world, &result);
    MPI_Group_size(result, &size);
    MPI_Group_rank(result, &rank);
    say("%s: rank %d of %d", pairs[i].name, rank == MPI_UNDEFINED ? -1 : rank, size);
    if (result != MPI_GROUP_EMPTY) MPI_Group_free(&result);
  }
  MPI_Group_range_incl(world, 1, range, &result);
  MPI_Group_compare(result, world, &relation);
  MPI_Group_translate_ranks(world, 4, ranks, result, translated);
  say("backwards: %s, %d %d %d %d", relation_of(relation), translated[0], translated[1], translated[2], translated[3]);
  MPI_Group_free(&result);
  range[0][0] = 0;
  range[0][1] = 2;
  range[0][2] = 2;
  MPI_Group_range_excl(world, 1, range, &result);
  MPI_Group_compare(result, odd, &relation);
  say("without even ones: %s", relation_of(relation));
  MPI_Group_free(&result);
  MPI_Group_compare(even, odd, &relation);
  say("even and odd: %s", relation_of(relation));
  MPI_Group_free(&even);
  MPI_Group_free(&odd);
  MPI_Group_free(&world);
}

static void made_of(const Named* parent) {
  MPI_Comm made;
  MPI_Group group, part;
  MPI_Request request;
  int rank, size, first[1][3], sum = -1, one = 1;
  const int inter = strncmp(parent->name, "inter", 5) == 0 || strstr(parent->name, "of inter") != NULL;
  MPI_Comm_rank(parent->comm, &rank);
  MPI_Comm_size(parent->comm, &size);
  say("from %s", parent->name);
  MPI_Comm_dup(parent->comm, &made);
  describe("dup", made);
  MPI_Comm_free(&made);
  MPI_Comm_idup(parent->comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  describe("idup", made);
  MPI_Comm_free(&made);
  MPI_Comm_dup_with_info(parent->comm, MPI_INFO_NULL, &made);
  describe("dup_with_info", made);
  MPI_Comm_disconnect(&made);
  say("disconnected %d", made == MPI_COMM_NULL);
  MPI_Comm_group(parent->comm, &group);
  first[0][0] = 0;
  first[0][1] = size - 1;
  first[0][2] = 2;
  MPI_Group_range_incl(group, 1, first, &part);
  MPI_Comm_create(parent->comm, part, &made);
  describe("create", made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  MPI_Comm_split(parent->comm, rank == 0 ? 0 : 1, -rank, &made);
  describe("split", made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  if (!inter) {
    if (rank % 2 == 0) {
      MPI_Comm_create_group(parent->comm, part, 4, &made);
      describe("create_group", made);
      MPI_Comm_free(&made);
    }
    MPI_Comm_split(parent->comm, rank == 0 ? MPI_UNDEFINED : 1, 0, &made);
    describe("split without one", made);
    if (made != MPI_COMM_NULL) {
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
      say("sum %d", sum);
      MPI_Comm_free(&made);
    }
    MPI_Comm_split_type(parent->comm, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &made);
    describe("split_type", made);
    MPI_Comm_free(&made);
  } else {
    MPI_Intercomm_merge(parent->comm, world_rank % 2, &made);
    describe("merge", made);
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, made);
    say("sum %d", sum);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&part);
  MPI_Group_free(&group);
}

static void compared(void) {
  for (int i = 0; i < kIntra + kInter; ++i) {
    const Named* const a = i < kIntra ? &intra[i] : &inter[i - kIntra];
    for (int j = 0; j < kIntra + kInter; ++j) {
      const Named* const b = j < kIntra ? &intra[j] : &inter[j - kIntra];
      int relation;
      if ((i < kIntra) != (j < kIntra)) continue;
      MPI_Comm_compare(a->comm, b->comm, &relation);
      say("%s and %s: %s", a->name, b->name, relation_of(relation));
    }
  }
}

static void names(void) {
  char text[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
  say("world \"%s\" %d", text, length);
  MPI_Comm_get_name(MPI_COMM_SELF, text, &length);
  say("self \"%s\" %d", text, length);
  for (int i = 1; i < kIntra - 1; ++i) {
    MPI_Comm_set_name(intra[i].comm, intra[i].name);
    MPI_Comm_get_name(intra[i].comm, text, &length);
    say("\"%s\" %d", text, length);
  }
  MPI_Comm_set_name(inter[0].comm, "between");
  MPI_Comm_get_name(inter[0].comm, text, &length);
  say("\"%s\" %d", text, length);
  MPI_Comm_set_name(MPI_COMM_WORLD, "all of us");
  MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
  say("\"%s\" %d", text, length);
  MPI_Comm_set_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
}

static void fails(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int class, length;
  MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  say("%s: %s", what, text);
}

static void errors(void) {
  MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, made;
  int size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  fails("free of world", MPI_Comm_free(&world));
  say("world still %d", world == MPI_COMM_WORLD);
  fails("disconnect of world", MPI_Comm_disconnect(&world));
  say("world still %d", world == MPI_COMM_WORLD);
  fails("free of self", MPI_Comm_free(&self));
  fails("remote size of world", MPI_Comm_remote_size(MPI_COMM_WORLD, &size));
  fails("merge of world", MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made));
  fails("size of none", MPI_Comm_size(MPI_COMM_NULL, &size));
  fails("group of none", MPI_Group_size(MPI_GROUP_NULL, &size));
  fails("create with none", MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void handles(void) {
  say("world in Fortran %d", MPI_Comm_c2f(MPI_COMM_WORLD));
  say("self in Fortran %d", MPI_Comm_c2f(MPI_COMM_SELF));
  say("world from Fortran %d", MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  for (int i = 0; i < kIntra; ++i)
    say("%s there and back %d", intra[i].name, MPI_Comm_f2c(MPI_Comm_c2f(intra[i].comm)) == intra[i].comm);
  for (int i = 0; i < kInter; ++i)
    say("%s there and back %d", inter[i].name, MPI_Comm_f2c(MPI_Comm_c2f(inter[i].comm)) == inter[i].comm);
}

void communicators(void) {
  MPI_Comm parent;
  for (int i = 0; i < kIntra; ++i) describe(intra[i].name, intra[i].comm);
  for (int i = 0; i < kInter; ++i) describe(inter[i].name, inter[i].comm);
  MPI_Comm_get_parent(&parent);
  say("no parent %d", parent == MPI_COMM_NULL);
  groups();
  compared();
  names();
  for (int i = 0; i < kIntra; ++i) made_of(&intra[i]);
  for (int i = 0; i < kInter; ++i) made_of(&inter[i]);
  handles();
  errors();
}
