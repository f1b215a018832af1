# Tests that stand in the release build alone: of the tools, the stranger's project, the broken variants, and an entry
# for each label of each other build, so that `ctest --test-dir build/release -L LABEL` runs all there is of a label.
cmake_path(GET PROJECT_BINARY_DIR FILENAME build_name)
if(NOT build_name STREQUAL "release")
  return()
endif()

add_test(NAME tools.Fetch COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch_test.py")
add_test(NAME tools.Lint COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/lint_test.py")
set_tests_properties(tools.Fetch tools.Lint PROPERTIES LABELS unit TIMEOUT 120)

add_test(NAME install.StrangersProject
         COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh" "${PROJECT_BINARY_DIR}" "${CMAKE_CXX_COMPILER}")
set_tests_properties(install.StrangersProject PROPERTIES LABELS install TIMEOUT 300)

foreach(mutation IN LISTS tenure_known_mutations)
  add_test(NAME mutation.${mutation} COMMAND "${PROJECT_SOURCE_DIR}/tools/mutation_test.sh" ${mutation})
  set_tests_properties(mutation.${mutation} PROPERTIES LABELS mutation TIMEOUT 300)
endforeach()

# The names start with "nested." so that ./check, which runs those builds itself, can leave them out.
function(tenure_nest preset label timeout)
  add_test(NAME nested.${preset}.${label}
           COMMAND "${PROJECT_SOURCE_DIR}/tools/nested_ctest.sh" ${preset} ${label})
  set_tests_properties(nested.${preset}.${label} PROPERTIES LABELS ${label} TIMEOUT ${timeout} RUN_SERIAL ON)
endfunction()

foreach(label IN ITEMS unit contract case explore stress e2e)
  tenure_nest(asan ${label} 1200)
  tenure_nest(tsan ${label} 1200)
endforeach()
tenure_nest(gcc unit 600)
