# Writes a C++ source with the files of the dashboard: cmake -D FOLDER=... -D OUTPUT=... -P embed_dashboard.cmake
# They are part of the program, so all of them together have a limit.
cmake_minimum_required(VERSION 3.25)
set(limit_bytes 204800)
file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js)
list(SORT files)
set(total 0)
set(texts "")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    if(NOT name MATCHES "^[a-z0-9_.-]+$")
        message(FATAL_ERROR "${file}: a name has lower-case letters, digits, `_`, `-` and `.` only")
    endif()
    file(SIZE ${file} bytes)
    math(EXPR total "${total} + ${bytes}")
    file(READ ${file} digits HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," characters "${digits}")
    string(REGEX REPLACE "('\\\\x0a',)" "\\1\n" characters "${characters}")
    file(SHA256 ${file} hash)
    string(SUBSTRING ${hash} 0 16 tag)
    string(APPEND texts "constexpr char kText${number}[] = {${characters}'\\0'};\n")
    string(APPEND rows "    {\"${name}\", std::string_view(kText${number}, ${bytes}), \"\\\"${tag}\\\"\"},\n")
    math(EXPR number "${number} + 1")
endforeach()
if(total GREATER limit_bytes)
    message(FATAL_ERROR "${FOLDER}: the files have ${total} bytes together, and may have ${limit_bytes}")
endif()
file(WRITE ${OUTPUT} "// Made by embed_dashboard.cmake.
#include \"proxy/admin/dashboard_files.hpp\"

namespace proxy {
namespace {

${texts}
constexpr DashboardFile kDashboardFiles[] = {
${rows}    {},
};

}  // namespace

std::span<const DashboardFile> dashboard_files() {
    return std::span(kDashboardFiles).first(${number});
}

}  // namespace proxy
")
