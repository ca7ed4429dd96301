// A library whose functions the symbolizer must find: compiled with debug information, copied without it and with it in
// a separate file. Lines are counted by symbolizer_test.cpp.
extern "C" void* current_return_address();

namespace target {

// Inlined into its caller.
[[gnu::always_inline]] inline void* inner_function() { return current_return_address(); }  // line 8

class Solver {
 public:
  [[gnu::noinline]] void* exchange_halo(int rounds) {
    void* result = nullptr;
    for (int i = 0; i < rounds; ++i) result = current_return_address();  // line 14
    return result;
  }
  [[gnu::noinline]] void* exchange_inlined() {
    void* const result = inner_function();  // line 18
    asm volatile("" ::: "memory");
    return result;
  }
};

}  // namespace target

// noinline and something behind the call: no tail calls.
extern "C" [[gnu::visibility("default")]] void* call_plain() { return target::Solver().exchange_halo(1); }
extern "C" [[gnu::visibility("default")]] void* call_inlined() { return target::Solver().exchange_inlined(); }
extern "C" [[gnu::visibility("default")]] void* call_exported() {
  void* const result = current_return_address();  // line 30
  asm volatile("" ::: "memory");
  return result;
}
