# Time from the finished model to summary.txt and profile.json, and to report.pdf.
add_executable(bench_report_time ${CMAKE_CURRENT_LIST_DIR}/report_time.cpp)
target_link_libraries(bench_report_time PRIVATE reports_synthetic)
