# Compiler, linker and sanitizer settings of our own targets, gathered in one interface target that is not exported.
include(CheckLinkerFlag)
find_package(Threads REQUIRED)

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(TENURE_CCACHE ccache)
mark_as_advanced(TENURE_CCACHE)
if(TENURE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TENURE_CCACHE}")
endif()

add_library(tenure_build_settings INTERFACE)
target_compile_options(tenure_build_settings INTERFACE -Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(tenure_build_settings INTERFACE -Wshadow -Wnon-virtual-dtor -Wthread-safety)
else()
  # g++ 12's -Wshadow and -Wnon-virtual-dtor refuse constructor parameters named like members, and protected bases.
  # It also warns when a template's TENURE_CHECK meets a function that can't be null.
  target_compile_options(tenure_build_settings INTERFACE -Wno-nonnull-compare -Wno-address)
endif()
if(TENURE_WARNINGS_AS_ERRORS)
  target_compile_options(tenure_build_settings INTERFACE -Werror)
endif()

check_linker_flag(CXX -fuse-ld=lld TENURE_HAS_LLD)
if(TENURE_HAS_LLD)
  target_link_options(tenure_build_settings INTERFACE -fuse-ld=lld)
endif()

if(TENURE_SANITIZE)
  target_compile_options(tenure_build_settings INTERFACE
    -fsanitize=${TENURE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tenure_build_settings INTERFACE -fsanitize=${TENURE_SANITIZE})
  # A recycled frame looks alive to a sanitizer; each frame is a real allocation there.
  target_compile_definitions(tenure_build_settings INTERFACE TENURE_RECYCLE_FRAMES=0)
  # The defaults are compiled in, so that a program started by hand is checked as strictly as one started by ctest.
  file(READ "${CMAKE_CURRENT_LIST_DIR}/tsan.supp" TENURE_TSAN_SUPPRESSIONS)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/sanitizer_defaults.cpp.in" "${PROJECT_BINARY_DIR}/sanitizer_defaults.cpp"
                 @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/tsan.supp")
  add_library(tenure_sanitizer_defaults OBJECT "${PROJECT_BINARY_DIR}/sanitizer_defaults.cpp")
endif()

set(tenure_known_mutations SKIP_JOIN INSTANCE_FIRST LEAK_CONTEXT STICKY_STOP)
if(TENURE_MUTATION)
  if(NOT TENURE_MUTATION IN_LIST tenure_known_mutations)
    message(FATAL_ERROR "TENURE_MUTATION is '${TENURE_MUTATION}'; known are: ${tenure_known_mutations}")
  endif()
  target_compile_definitions(tenure_build_settings INTERFACE "TENURE_MUTATION_${TENURE_MUTATION}=1")
endif()

# Makes a program of ours: an executable with the common settings and, where sanitized, their defaults.
function(tenure_add_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:tenure_build_settings>)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE "TENURE_VERSION=\"${PROJECT_VERSION}\""
                                             "TENURE_DEFAULT_CACHE_DIR=\"${TENURE_CACHE_DIR}\""
                                             "TENURE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
                                             "TENURE_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
  if(TARGET tenure_sanitizer_defaults)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:tenure_sanitizer_defaults>)
  endif()
endfunction()
