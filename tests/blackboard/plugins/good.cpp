// A plug-in for plugin_test.cpp: nothing wrong with it; counts its registration in an int.
#include "blackboard/plugin.hpp"

namespace {
void register_with(void* registrar) { ++*static_cast<int*>(registrar); }
}  // namespace

extern "C" __attribute__((visibility("default")))
const ardoise::blackboard::PluginDescriptor ardoise_plugin = {ardoise::blackboard::kPluginAbi,
                                                              sizeof(ardoise::blackboard::PluginDescriptor),
                                                              "test.interface",
                                                              "good_1",
                                                              "1.2",
                                                              register_with};
