// See observed_call.hpp.
#include "vmpi/wrappers/observed_call.hpp"

namespace ardoise::vmpi {

__thread const char* outermost_call = nullptr;
constinit std::atomic<bool> observing{false};

}  // namespace ardoise::vmpi
