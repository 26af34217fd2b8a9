# Compiles a CMake project with Raddle's instrumentation:
#
#     cmake -B build-raddle -DCMAKE_TOOLCHAIN_FILE=/path/to/raddle-toolchain.cmake
#
# The same as CC=raddle-cc CXX=raddle-cxx. RADDLE_CC and RADDLE_CXX in the environment choose the real compilers.

find_program(RADDLE_CC_PROGRAM raddle-cc)
find_program(RADDLE_CXX_PROGRAM raddle-cxx)
if(NOT RADDLE_CC_PROGRAM OR NOT RADDLE_CXX_PROGRAM)
  message(FATAL_ERROR "raddle-cc and raddle-cxx not found; install Raddle or add its directory to PATH")
endif()
set(CMAKE_C_COMPILER "${RADDLE_CC_PROGRAM}")
set(CMAKE_CXX_COMPILER "${RADDLE_CXX_PROGRAM}")
