// The one observer of this process; see observer.hpp.
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::vmpi {

constinit std::atomic<const Observer*> observer{nullptr};

}  // namespace ardoise::vmpi
