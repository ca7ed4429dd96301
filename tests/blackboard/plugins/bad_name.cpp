// A plug-in for plugin_test.cpp: a name that could not be a file or key.
#include "blackboard/plugin.hpp"

namespace {
void register_with(void* registrar) { ++*static_cast<int*>(registrar); }
}  // namespace

extern "C" __attribute__((visibility("default")))
const ardoise::blackboard::PluginDescriptor ardoise_plugin = {ardoise::blackboard::kPluginAbi,
                                                              sizeof(ardoise::blackboard::PluginDescriptor),
                                                              "test.interface",
                                                              "Bad Name",
                                                              "1",
                                                              register_with};
