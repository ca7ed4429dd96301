// The modes of late_ranks in which ranks wait for each other on a window.
#pragma once

typedef struct {
  const char* pattern;
  int rank, size, late;
  // The times of one step.
  void (*enter)(void);     // the call comes whose begin counts
  void (*prepared)(void);  // the late rank has done what must come before the others wait
  void (*await_prepared)(void);
  void (*done)(void);  // with the step
  void (*await_done)(void);
} WindowStep;

int is_of_window(const char* pattern);
void make_window(const WindowStep* step);
void free_window(void);
// In each step: the late rank before it sleeps, and all afterwards.
void prepare_on_window(void);
void meet_on_window(void);
