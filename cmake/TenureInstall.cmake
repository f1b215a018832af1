include(CMakePackageConfigHelpers)

get_property(tenure_room_targets GLOBAL PROPERTY TENURE_ROOM_TARGETS)
install(TARGETS tenure_all ${tenure_room_targets} EXPORT TenureTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tenure" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
# What an engine shows to the world; the rest of its folder includes the engine's own headers.
foreach(header IN ITEMS fake/fake_engine.hpp litert/litert_engine.hpp litert/known_models.hpp)
  cmake_path(GET header PARENT_PATH engine)
  if(TARGET tenure_engine_${engine})
    install(FILES "${PROJECT_SOURCE_DIR}/engines/${header}"
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenure_engines/engines/${engine})
  endif()
endforeach()
if(TARGET tenure)
  install(TARGETS tenure RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(tenure_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tenure)
install(EXPORT TenureTargets NAMESPACE Tenure:: DESTINATION ${tenure_package_dir})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/TenureConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/TenureConfig.cmake" INSTALL_DESTINATION ${tenure_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TenureConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TenureConfig.cmake" "${PROJECT_BINARY_DIR}/TenureConfigVersion.cmake"
        DESTINATION ${tenure_package_dir})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD_PARTY.md"
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
