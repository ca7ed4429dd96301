// A plug-in for plugin_test.cpp: has no name.
#include "blackboard/plugin.hpp"

namespace {
void register_with(void* registrar) { ++*static_cast<int*>(registrar); }
}  // namespace

extern "C" __attribute__((visibility("default")))
const ardoise::blackboard::PluginDescriptor ardoise_plugin = {ardoise::blackboard::kPluginAbi,
                                                              sizeof(ardoise::blackboard::PluginDescriptor),
                                                              "test.interface",
                                                              nullptr,
                                                              "1",
                                                              register_with};
