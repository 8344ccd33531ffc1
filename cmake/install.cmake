# The program, the headers, the libraries and a CMake package:
#
#   find_package(lase REQUIRED)
#   target_link_libraries(mine PRIVATE lase::lase)   # or lase::data: files and graphs, no torch
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS lase_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS lase_data lase_core EXPORT lase_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/lase DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/src/lase/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lase)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lase)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/laseConfig.cmake.in ${PROJECT_BINARY_DIR}/laseConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/laseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT lase_targets NAMESPACE lase:: FILE laseTargets.cmake DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/laseConfig.cmake ${PROJECT_BINARY_DIR}/laseConfigVersion.cmake
        DESTINATION ${package_folder})
