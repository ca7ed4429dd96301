// All losses of a program: each second of its critical path beyond useful work is charged to one cause.
#pragma once

#include <vector>

#include "reports/losses/loss.hpp"
#include "reports/losses/python_objects.hpp"
#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

// By ceiling, descending; ceilings add up to at most the run time. Empty: the critical path is not known.
[[nodiscard]] std::vector<Loss> losses_of(const RunView& view);

// The rules, by topic. Each appends losses; `losses_of` merges those with one code.
// late.*, serial.*, chain.*, order.*, hub.*
void find_uneven_work(const RunView& view, const PythonObjects& objects, std::vector<Loss>& out);
// ovh.*, poll.*, prog.*, chain.ring, rma.lock …
void find_costly_calls(const RunView& view, const PythonObjects& objects, std::vector<Loss>& out);
void find_object_losses(const PythonObjects& objects, std::vector<Loss>& out);  // ovh.objects
void find_file_losses(const RunView& view, std::vector<Loss>& out);             // io.*
void find_host_losses(const RunView& view, std::vector<Loss>& out);             // node.*, mem.faults
void find_sleep(const RunView& view, std::vector<Loss>& out);           // late.asleep, poll.sleep, thr.lock, io.lock
void find_thread_losses(const RunView& view, std::vector<Loss>& out);   // thr.*, node.bind
void find_growing_work(const RunView& view, std::vector<Loss>& out);    // cpu.growing
void find_library_losses(const RunView& view, std::vector<Loss>& out);  // mem.alloc, thr.lock, io.text
void find_hot_function(const RunView& view, std::vector<Loss>& out);    // cpu.hot: where the work is

}  // namespace ardoise::reports
