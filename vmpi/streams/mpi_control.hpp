// Control messages over MPI (mailbox.hpp), and the messages that MPI_Finalize sends.
#pragma once

#include "vmpi/streams/mailbox.hpp"

namespace ardoise::vmpi {

// Between initialise_partitions and finalise_partitions.
Mailbox& control_mailbox();

// MPI_Finalize: notifies processes that wait for this one to open a stream. Cheap when there are none.
void send_gone() noexcept;

}  // namespace ardoise::vmpi
