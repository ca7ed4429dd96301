// A plug-in for plugin_test.cpp: a descriptor of another size.
#include "blackboard/plugin.hpp"

namespace {
void register_with(void* registrar) { ++*static_cast<int*>(registrar); }
}  // namespace

extern "C" __attribute__((visibility("default"))) const ardoise::blackboard::PluginDescriptor ardoise_plugin = {
    ardoise::blackboard::kPluginAbi, 8, "test.interface", "other_size", "1", register_with};
