// So many frames on the stack, compiled with and without frame pointers (FRAMES names the function).
extern "C" int FRAMES(int depth, void (*at_the_bottom)());

extern "C" [[gnu::noinline]] int FRAMES(int depth, void (*at_the_bottom)()) {
  if (depth == 0) {
    at_the_bottom();
    return 0;
  }
  const int below = FRAMES(depth - 1, at_the_bottom);
  asm volatile("" ::: "memory");  // not a tail call
  return below + 1;
}
