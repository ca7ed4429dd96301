// A plug-in for plugin_test.cpp: built for another ABI with a different layout of the descriptor.
#include "blackboard/plugin.hpp"

namespace {
void register_with(void* registrar) { ++*static_cast<int*>(registrar); }
}  // namespace

extern "C" __attribute__((visibility("default"))) const ardoise::blackboard::PluginDescriptor ardoise_plugin = {
    ardoise::blackboard::kPluginAbi + 1, 4, nullptr, nullptr, nullptr, register_with};
