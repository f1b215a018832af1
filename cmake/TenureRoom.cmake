# One room of the library, one static library. A room without sources yet is an interface library, so that the
# rooms to its right can already depend on it.

function(tenure_define_library target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "INSTALLED_ROOT" "DEPENDS")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  if(sources)
    add_library(${target} STATIC ${sources})
    set(visibility PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tenure_build_settings>)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  else()
    add_library(${target} INTERFACE)
    set(visibility INTERFACE)
  endif()
  string(REPLACE "tenure_" "" short_name ${target})
  add_library(Tenure::${short_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${short_name})
  target_compile_features(${target} ${visibility} cxx_std_20)
  target_include_directories(${target} ${visibility} $<BUILD_INTERFACE:${arg_INSTALLED_ROOT}>)
  target_link_libraries(${target} ${visibility} ${arg_DEPENDS} Threads::Threads)
  if(TENURE_SANITIZE)
    # Headers ask for it as well, and every part of a program must give the same answer.
    target_compile_definitions(${target} ${visibility} $<BUILD_INTERFACE:TENURE_RECYCLE_FRAMES=0>)
  endif()
  set_property(GLOBAL APPEND PROPERTY TENURE_ROOM_TARGETS ${target})
endfunction()

# tenure_add_room(NAME [DEPENDS target…]): src/NAME and include/tenure/NAME become the target tenure_NAME.
function(tenure_add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  tenure_define_library(tenure_${name} "${PROJECT_SOURCE_DIR}/src/${name}"
                        INSTALLED_ROOT "${PROJECT_SOURCE_DIR}/include" DEPENDS ${arg_DEPENDS})
  target_include_directories(tenure_${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # fmt stays in sources: no public header shows it.
  get_target_property(kind tenure_${name} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    target_link_libraries(tenure_${name} PRIVATE $<BUILD_INTERFACE:tenure_fmt>)
  endif()
endfunction()

# tenure_add_engine(NAME [DEPENDS target…]): engines/NAME becomes the target tenure_engine_NAME, whose headers are
# included as "engines/NAME/….hpp".
function(tenure_add_engine name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  tenure_define_library(tenure_engine_${name} "${PROJECT_SOURCE_DIR}/engines/${name}"
                        INSTALLED_ROOT "${PROJECT_SOURCE_DIR}" DEPENDS tenure_engine ${arg_DEPENDS})
  target_include_directories(tenure_engine_${name} INTERFACE
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tenure_engines>)
  get_target_property(kind tenure_engine_${name} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    target_link_libraries(tenure_engine_${name} PRIVATE $<BUILD_INTERFACE:tenure_fmt>)
  endif()
endfunction()

# fmt, header-only, for sources: an installed archive then asks nothing of its user.
find_package(fmt REQUIRED)
add_library(tenure_fmt INTERFACE)
target_link_libraries(tenure_fmt INTERFACE fmt::fmt-header-only)
