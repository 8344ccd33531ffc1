# The program, the public headers, the libraries and a CMake package:
#
#   find_package(lase REQUIRED)                     # lase::lase: models and training, needs Torch
#   find_package(lase REQUIRED COMPONENTS graph)    # lase::graph: files and graphs alone
include(CMakePackageConfigHelpers)

install(TARGETS lase_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/lase DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/src/lase/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lase)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lase)
install(TARGETS lase_kernels lase_graph EXPORT lase_graph_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT lase_graph_targets NAMESPACE lase:: FILE laseGraphTargets.cmake
        DESTINATION ${package_folder})
if(LASE_TORCH)
  install(TARGETS lase_torch_cli RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/lase)
  install(TARGETS lase_core EXPORT lase_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT lase_targets NAMESPACE lase:: FILE laseTargets.cmake
          DESTINATION ${package_folder})
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/laseConfig.cmake.in ${PROJECT_BINARY_DIR}/laseConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/laseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/laseConfig.cmake ${PROJECT_BINARY_DIR}/laseConfigVersion.cmake
        DESTINATION ${package_folder})
