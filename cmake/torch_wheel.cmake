# Defines the target `torch` for an installed wheel. Its own CMake package requires the whole CUDA
# toolkit and cuDNN if it was built with CUDA; lase needs neither. cmake/cuda.cmake adds the CUDA
# libraries of the wheel.
function(lase_torch_wheel folder)
  if(NOT EXISTS ${folder}/include/ATen/ATen.h OR NOT EXISTS ${folder}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "${folder}: is not the folder of an installed torch wheel")
  endif()
  add_library(torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch SYSTEM INTERFACE
    ${folder}/include ${folder}/include/torch/csrc/api/include)
  target_link_libraries(torch INTERFACE
    ${folder}/lib/libtorch.so ${folder}/lib/libtorch_cpu.so ${folder}/lib/libc10.so)
  if(EXISTS ${folder}/lib/libtorch_cuda.so)
    set_target_properties(torch PROPERTIES LASE_CUDA_LIBRARIES
      "${folder}/lib/libtorch_cuda.so;${folder}/lib/libc10_cuda.so")
  endif()
endfunction()
