# Finds the torch that Python imports, and defines the target `torch` for it. A process must not
# load two versions of torch, so another installation would be of no use.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import os, torch; print(torch.__version__); print(os.path.dirname(torch.__file__)); print(int(torch.compiled_with_cxx11_abi()))"
  OUTPUT_VARIABLE torch_about ERROR_VARIABLE torch_error RESULT_VARIABLE torch_result
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT torch_result EQUAL 0)
  message(FATAL_ERROR
    "lase needs torch to be installed in the environment that it is built in, but "
    "${Python_EXECUTABLE} cannot import it; install torch, then run "
    "`pip install --no-build-isolation .`")
endif()
string(REPLACE "\n" ";" torch_about "${torch_about}")
list(GET torch_about 0 LASE_TORCH_VERSION)
list(GET torch_about 1 torch_folder)
list(GET torch_about 2 torch_abi)
if(NOT torch_abi)
  # Strings are passed between the two modules, so both are built with torch's version of them.
  add_compile_definitions(_GLIBCXX_USE_CXX11_ABI=0)
endif()

# In Debian's package, the libraries are links to system folders.
file(REAL_PATH ${torch_folder} torch_folder)
file(REAL_PATH ${torch_folder}/lib/libtorch_cpu.so torch_library)
cmake_path(IS_PREFIX torch_folder "${torch_library}" torch_is_wheel)
if(torch_is_wheel AND EXISTS ${torch_library} AND EXISTS ${torch_folder}/include/ATen/ATen.h)
  include(cmake/torch_wheel.cmake)
  lase_torch_wheel(${torch_folder})
else()
  find_package(Torch REQUIRED)  # Debian's package, with headers and libraries in system folders
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" imported "${LASE_TORCH_VERSION}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" found "${Torch_VERSION}")
  if(found AND NOT found STREQUAL imported)
    message(FATAL_ERROR "Python imports torch ${LASE_TORCH_VERSION}, but CMake found ${Torch_VERSION}")
  endif()
endif()
message(STATUS "Torch ${LASE_TORCH_VERSION} in ${torch_folder}")
