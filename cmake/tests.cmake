# GoogleTest executables: test_<layer> from tests/cpp/<layer>, test_conformance from tests/conformance.

set(OPENTRN_GTEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest source tree, built with this project's flags")
if(EXISTS "${OPENTRN_GTEST_SOURCE}/CMakeLists.txt")
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK ON)
  set(CMAKE_POLICY_VERSION_MINIMUM 3.10) # GoogleTest 1.12 asks for less than CMake 4 grants.
  add_subdirectory("${OPENTRN_GTEST_SOURCE}" googletest EXCLUDE_FROM_ALL SYSTEM)
  foreach(library gtest gtest_main gmock)
    target_compile_options(${library} PRIVATE -w) # Not ours to mend.
  endforeach()
  set(OPENTRN_GTEST_LIBRARIES gmock gtest_main)
else()
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gmock)
    # A build for use needs no tests; ctest then finds none and fails, so that this cannot be overlooked.
    message(STATUS "GoogleTest is missing, the C++ tests are left out, do: apt-get install googletest")
    return()
  endif()
  set(OPENTRN_GTEST_LIBRARIES GTest::gmock GTest::gtest_main)
endif()

set(OPENTRN_TEST_TIMEOUT 600)

function(opentrn_add_tests name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE opentrn ${OPENTRN_GTEST_LIBRARIES})
  target_compile_definitions(${name} PRIVATE OPENTRN_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  opentrn_compile_options(${name})
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH OFF)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${OPENTRN_TEST_TIMEOUT})
endfunction()

foreach(layer IN LISTS OPENTRN_LAYERS)
  opentrn_add_tests(test_${layer} tests/cpp/${layer})
endforeach()
opentrn_add_tests(test_conformance tests/conformance)
