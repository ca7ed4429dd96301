// A plug-in for plugin_test.cpp: registers a knowledge source and submits, with functions it finds in the program that
// loads it, as the analysis plug-ins do.
#include <stdexcept>

#include "blackboard/blackboard.hpp"
#include "blackboard/plugin.hpp"

namespace {

using namespace ardoise::blackboard;

struct Number {
  int value;
  EntryRef pack;
};

void register_with(void* registrar) {
  auto& board = *static_cast<Blackboard*>(registrar);
  board.add({"plugin", {entry_type("", "in")}, [](const Context& context, std::span<EntryRef> entries) {
               const int value = entries[0].as<int>();
               if (value < 0) throw std::runtime_error("negative");
               context.board.submit(make_entry_of(entry_type("", "out"), Number{2 * value, entries[0]}));
             }});
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PluginDescriptor ardoise_plugin = {
    kPluginAbi, sizeof(PluginDescriptor), "test.interface", "uses_board", "1", register_with};
