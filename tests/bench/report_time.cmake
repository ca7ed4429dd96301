# Time from the finished model to summary.txt and profile.json, and to report.pdf.
add_executable(report_time_bench ${CMAKE_CURRENT_LIST_DIR}/report_time_bench.cpp)
target_link_libraries(report_time_bench PRIVATE reports_synthetic)
