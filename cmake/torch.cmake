# The Python extension opentrn._C. torch's own CMake package is not used: it searches for CUDA and Caffe2 and sets
# global flags, while four libraries and two include folders are all that an extension needs.

if(NOT Python_EXECUTABLE AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${CMAKE_CURRENT_SOURCE_DIR}/.venv/bin/python")
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# torch loads device backends when imported, an already installed opentrn among them; the build must not depend on it.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env TORCH_DEVICE_BACKEND_AUTOLOAD=0 "${Python_EXECUTABLE}"
          "${CMAKE_CURRENT_LIST_DIR}/probe_torch.py"
  OUTPUT_VARIABLE torch_facts
  RESULT_VARIABLE torch_status
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT torch_status EQUAL 0)
  message(FATAL_ERROR "[build] torch cannot be imported by ${Python_EXECUTABLE}, expected the version pinned in "
                      "pyproject.toml, do: install it there or pass -DPython_EXECUTABLE=<python>")
endif()
string(JSON TORCH_VERSION GET "${torch_facts}" version)
string(JSON TORCH_CXX11_ABI GET "${torch_facts}" cxx11_abi)
string(JSON TORCH_LIBRARY_DIR GET "${torch_facts}" library_dir)
string(JSON torch_include_dirs GET "${torch_facts}" include_dirs)
message(STATUS "torch ${TORCH_VERSION}, C++11 ABI ${TORCH_CXX11_ABI}, ${TORCH_LIBRARY_DIR}")

file(GLOB_RECURSE torch_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/csrc/torch/*.cpp")
Python_add_library(_C MODULE WITH_SOABI ${torch_sources})
# pybind11 comes from torch's include folder: types bound by torch are visible to us only with the same internals.
target_include_directories(_C SYSTEM PRIVATE ${torch_include_dirs})
target_compile_definitions(_C PRIVATE _GLIBCXX_USE_CXX11_ABI=${TORCH_CXX11_ABI}
                                      TORCH_EXTENSION_NAME=_C)
foreach(library torch torch_cpu c10 torch_python)
  target_link_libraries(_C PRIVATE "${TORCH_LIBRARY_DIR}/lib${library}.so")
endforeach()
target_link_libraries(_C PRIVATE opentrn)
opentrn_compile_options(_C)
# Installed, _C lies in site-packages/opentrn, beside libopentrn.so and the package torch.
set_target_properties(_C PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../torch/lib" CXX_VISIBILITY_PRESET hidden)

opentrn_precompile(_C PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/csrc/torch/pch.h")
install(TARGETS _C LIBRARY DESTINATION opentrn)

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" OPENTRN_CXX_FLAGS)
set(OPENTRN_COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
configure_file(cmake/_build_info.py.in "${CMAKE_CURRENT_BINARY_DIR}/_build_info.py" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/_build_info.py" DESTINATION opentrn)
