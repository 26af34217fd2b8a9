# Tests that explore the interleavings of a program, for CTest. Copy this file into your project, then:
#
#     include(cmake/Raddle.cmake)
#     raddle_add_test(NAME queue_interleavings TARGET test_queue)
#
# raddle_add_test(NAME name TARGET target
#                 [ARGS arg...]       arguments of the program
#                 [TIME time]         stop after this time: 10s, 2m
#                 [EXECS n]           stop after n executions
#                 [OPTIONS option...] more options of `raddle run`
#                 [WORKING_DIRECTORY directory])
#
# adds a test that runs `raddle run` on an executable target. It fails if Raddle finds something. The test has the label
# `raddle`: `ctest -L raddle` runs only these tests, `ctest -LE raddle` all others. Findings of all tests are in
# `.raddle` of the build directory: `cd build && raddle list`. Regression tests are those in `raddle-regressions` of
# the source directory.
#
# In a build with another compiler the program has no instrumentation, and no test is added.

include_guard(GLOBAL)

# Whether this build is instrumented.
set(RADDLE_BUILD OFF)
foreach(_raddle_compiler IN ITEMS "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}")
  get_filename_component(_raddle_name "${_raddle_compiler}" NAME)
  if(_raddle_name MATCHES "^raddle-(cc|cxx|c\\+\\+)$")
    set(RADDLE_BUILD ON)
    get_filename_component(_raddle_directory "${_raddle_compiler}" DIRECTORY)
    find_program(RADDLE_PROGRAM raddle HINTS "${_raddle_directory}")
  endif()
endforeach()

if(RADDLE_BUILD AND NOT RADDLE_PROGRAM)
  message(FATAL_ERROR "raddle not found; install Raddle or add its directory to PATH")
endif()

function(raddle_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 it "" "NAME;TARGET;TIME;EXECS;WORKING_DIRECTORY" "ARGS;OPTIONS")
  if(it_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "raddle_add_test: unexpected argument ${it_UNPARSED_ARGUMENTS}")
  endif()
  foreach(required IN ITEMS NAME TARGET)
    if(NOT it_${required})
      message(FATAL_ERROR "raddle_add_test: ${required} is missing; usage: raddle_add_test(NAME name TARGET target)")
    endif()
  endforeach()
  if(NOT TARGET ${it_TARGET})
    message(FATAL_ERROR "raddle_add_test: `${it_TARGET}` is not a target; add_executable must come first")
  endif()
  get_target_property(type ${it_TARGET} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    message(FATAL_ERROR "raddle_add_test: `${it_TARGET}` is not an executable")
  endif()
  if(NOT RADDLE_BUILD)
    message(STATUS "Raddle: test ${it_NAME} not added: not compiled by raddle-cc")
    return()
  endif()

  set(options --store "${CMAKE_BINARY_DIR}/.raddle" --regressions "${CMAKE_SOURCE_DIR}/raddle-regressions")
  if(it_TIME)
    list(APPEND options --time "${it_TIME}")
  endif()
  if(it_EXECS)
    list(APPEND options --execs "${it_EXECS}")
  endif()
  list(APPEND options ${it_OPTIONS})
  if(NOT it_WORKING_DIRECTORY)
    set(it_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  add_test(NAME ${it_NAME}
    COMMAND "${RADDLE_PROGRAM}" run ${options} -- "$<TARGET_FILE:${it_TARGET}>" ${it_ARGS}
    WORKING_DIRECTORY "${it_WORKING_DIRECTORY}")
  # The workers of one test keep all processors busy.
  set_tests_properties(${it_NAME} PROPERTIES LABELS raddle RUN_SERIAL ON)
endfunction()
