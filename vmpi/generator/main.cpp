// ardoise-generate-wrappers: a build-time program that turns vmpi/wrappers/mpi_functions.table into C++ sources.
//
//   ardoise-generate-wrappers header <table> <output>
//   ardoise-generate-wrappers wrappers <table> <preprocessed mpi.h> <folder>
//
// Exit status 1 and one sentence on standard error when the table is wrong.
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "vmpi/generator/emit.hpp"

namespace {

using ardoise::generator::TableError;

// Number of sources for each kind of wrapper, which compile in parallel; ../CMakeLists.txt lists them.
constexpr std::size_t kParts = 2;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw TableError("cannot read " + path);
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw TableError("cannot write " + path);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "header") {
    const auto table = ardoise::generator::parse_table(read_file(arguments[1]), arguments[1]);
    write_file(arguments[2], ardoise::generator::emit_functions_header(table));
    return 0;
  }
  if (arguments.size() == 4 && arguments[0] == "wrappers") {
    using namespace ardoise::generator;
    const auto table = parse_table(read_file(arguments[1]), arguments[1]);
    const auto header = read_file(arguments[2]);
    const auto wrapped = match(table, parse_prototypes(header));
    const auto library = library_of(header);
    const std::string folder = arguments[3] + "/";
    write_file(folder + "real_functions.hpp", emit_real_functions_header(wrapped));
    write_file(folder + "real_functions.cpp", emit_real_functions(wrapped));
    for (std::size_t part = 0; part < kParts; ++part) {
      const auto end = std::to_string(part) + ".cpp";
      write_file(folder + "c_wrappers_" + end, emit_c_wrappers(wrapped, part, kParts));
      write_file(folder + "fortran_wrappers_" + end, emit_fortran_wrappers(wrapped, library, false, part, kParts));
      write_file(folder + "fortran_f08_wrappers_" + end, emit_fortran_wrappers(wrapped, library, true, part, kParts));
    }
    return 0;
  }
  std::cerr << "usage: ardoise-generate-wrappers header <table> <output>\n"
            << "       ardoise-generate-wrappers wrappers <table> <preprocessed mpi.h> <folder>\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::cerr << "ardoise-generate-wrappers: " << error.what() << '\n';
    return 1;
  }
}
