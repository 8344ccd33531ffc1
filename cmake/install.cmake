# Installs the program, the public headers, the libraries and a CMake package:
#
#   find_package(lase REQUIRED)                     # lase::lase: models and training, needs Torch
#   find_package(lase REQUIRED COMPONENTS graph)    # lase::graph: files and graphs only
include(CMakePackageConfigHelpers)

install(TARGETS lase_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The public headers are <lase/graph.h> and <lase/lase.h> with all headers that they include. Other
# headers are internal.
set(public_headers
  lase/base/array.h
  lase/base/attributes.h
  lase/base/error.h
  lase/base/host_device.h
  lase/base/index_array.h
  lase/base/layout.h
  lase/base/message.h
  lase/base/names.h
  lase/base/option.h
  lase/base/option_table.h
  lase/base/context.h
  lase/base/launch_environment.h
  lase/base/parallel.h
  lase/base/part.h
  lase/base/process_group.h
  lase/base/random.h
  lase/base/string_table.h
  lase/embed/embed.h
  lase/graph.h
  lase/graph/adjacency.h
  lase/graph/build.h
  lase/graph/divided_graph.h
  lase/graph/generate.h
  lase/graph/graph.h
  lase/graph/graph_parts.h
  lase/graph/labels.h
  lase/graph/link_targets.h
  lase/graph/schema.h
  lase/graph/nodes.h
  lase/graph/partition.h
  lase/graph/pca.h
  lase/graph/planted.h
  lase/graph/raw_graph.h
  lase/graph/write_rows.h
  lase/ingest/export.h
  lase/ingest/import.h)
if(LASE_TORCH)
  list(APPEND public_headers
    lase/distributed/join.h
    lase/embed/features.h
    lase/inference/attribute_effects.h
    lase/inference/calibration.h
    lase/inference/explain.h
    lase/inference/link_options.h
    lase/inference/metrics.h
    lase/inference/predict.h
    lase/inference/predict_links.h
    lase/inference/prediction_columns.h
    lase/kernels/amplifier.h
    lase/kernels/precision.h
    lase/lase.h
    lase/model/description.h
    lase/model/label_inputs.h
    lase/model/model_file.h
    lase/model/options.h
    lase/model/scaling.h
    lase/ops/aggregate.h
    lase/ops/device.h
    lase/ops/device_options.h
    lase/sampler/probabilities.h
    lase/train/options.h
    lase/train/trainer.h)
endif()
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/src/lase/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lase)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lase)
install(TARGETS lase_kernels lase_graph EXPORT lase_graph_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT lase_graph_targets NAMESPACE lase:: FILE laseGraphTargets.cmake
        DESTINATION ${package_folder})
if(LASE_TORCH)
  install(TARGETS lase_torch_cli RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/lase)
  if(LASE_CUDA_OPS)
    install(TARGETS lase_kernels_cuda EXPORT lase_targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
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
              ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake
        DESTINATION ${package_folder})
