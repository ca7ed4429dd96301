# Precompiled headers, for targets of so many files that it pays.
set(common_headers <algorithm> <array> <atomic> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span>
  <string> <string_view> <thread> <unordered_map> <vector> <fmt/format.h>)

foreach(target ardoise_analyzer_core ardoise_blackboard ardoise_launcher ardoise_preload ardoise_recorder ardoise_sources
    ardoise_vmpi_objects)
  target_precompile_headers(${target} PRIVATE ${common_headers})
endforeach()
target_precompile_headers(ardoise_reports PRIVATE ${common_headers} <nlohmann/json.hpp>)
foreach(target blackboard_tests knowledge_sources_tests launcher_test recorder_test reports_test vmpi_unit_test
    vmpi_wrappers_test)
  if(TARGET ${target})
    target_precompile_headers(${target} PRIVATE ${common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endforeach()
