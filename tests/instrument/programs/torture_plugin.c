/* Loaded and unloaded again and again while it works. */
__attribute__((visibility("default"))) long torture_plugin(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    sum += i % 7;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}
