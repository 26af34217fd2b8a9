# find_package(Raddle): raddle_add_test (Raddle.cmake), and the target Raddle::headers with the directory of raddle.h.

include("${CMAKE_CURRENT_LIST_DIR}/Raddle.cmake")

get_filename_component(_raddle_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Raddle::headers)
  add_library(Raddle::headers INTERFACE IMPORTED)
  set_target_properties(Raddle::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_raddle_prefix}/include/raddle")
endif()
