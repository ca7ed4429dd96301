// The control messages of this process over MPI (mailbox.hpp), and what MPI_Finalize says by them.
#pragma once

#include "vmpi/streams/mailbox.hpp"

namespace ardoise::vmpi {

// Between initialise_partitions and finalise_partitions.
Mailbox& control_mailbox();

// MPI_Finalize: processes that wait for this one to open a stream hear that it won't. Cheap when there are none.
void say_gone() noexcept;

}  // namespace ardoise::vmpi
