// A plug-in for plugin_test.cpp: needs a function that does not exist.
#include "blackboard/plugin.hpp"

extern "C" void ardoise_test_function_that_is_nowhere(void*);

extern "C" __attribute__((visibility("default")))
const ardoise::blackboard::PluginDescriptor ardoise_plugin = {ardoise::blackboard::kPluginAbi,
                                                              sizeof(ardoise::blackboard::PluginDescriptor),
                                                              "test.interface",
                                                              "unresolved",
                                                              "1",
                                                              ardoise_test_function_that_is_nowhere};
