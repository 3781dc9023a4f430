# Compiler settings shared by every target.

find_program(OPENTRN_CCACHE ccache)
if(OPENTRN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache declines precompiled headers unless it is told that their defines and times may be trusted, and shares them
  # between build folders only if it sees their paths as relative.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${CMAKE_BINARY_DIR}"
      "${OPENTRN_CCACHE}")
endif()

if(OPENTRN_SANITIZE)
  set(sanitizer_flags -fsanitize=${OPENTRN_SANITIZE} -fno-omit-frame-pointer)
  if(OPENTRN_SANITIZE MATCHES "undefined")
    # The address sanitizer sees what null and object-size look for, at half the time to compile; only one class is virtual.
    list(APPEND sanitizer_flags -fno-sanitize-recover=undefined -fno-sanitize=null,object-size,vptr)
  endif()
  # Directory-wide, so that GoogleTest is instrumented too: a container passed between instrumented and plain code
  # gives false reports.
  add_compile_options(${sanitizer_flags})
  add_link_options(${sanitizer_flags})
endif()

# Options of our own code; third-party code keeps its own.
function(opentrn_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion $<$<BOOL:${OPENTRN_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlapping copies in every `"text" + std::string` (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  # A contracted multiply-add would make results depend on the instruction set chosen at run time. A kernel that wants
  # fused steps says so with std::fma. Nobody reads errno or the floating point flags, and many loops vectorise only
  # when these need not be kept.
  target_compile_options(${target} PRIVATE -fno-math-errno -fno-trapping-math -ffp-contract=off)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default)
endfunction()

# Precompiles headers for `target`, with the arguments of target_precompile_headers. Sources still include what they use:
# the clang check compiles them without it.
function(opentrn_precompile target)
  target_precompile_headers(${target} ${ARGN})
  # ccache needs both to recognise a precompiled header by its content.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                                           "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()
