include(CMakePackageConfigHelpers)

# Components: lib has what programs load, dev what compilers and linkers read, tools the programs, c
# the library for C. The licence belongs to each of them.
function(k8s_sd_install_library target export)
    install(TARGETS ${target} EXPORT ${export}
        RUNTIME COMPONENT lib
        LIBRARY COMPONENT lib NAMELINK_COMPONENT dev
        ARCHIVE COMPONENT dev)
endfunction()
foreach(target k8s_sd_headers k8s_sd k8s_sd_sim)
    k8s_sd_install_library(${target} k8s_sdTargets)
endforeach()
if(K8S_SD_SCRAPE)
    k8s_sd_install_library(k8s_sd_scrape k8s_sdScrapeTargets)
endif()
install(DIRECTORY include/k8s_sd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp")
foreach(component lib dev tools)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ${component})
endforeach()

# find_package(k8s_sd [COMPONENTS scrape sim])
set(k8s_sd_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/k8s_sd)
install(EXPORT k8s_sdTargets NAMESPACE k8s_sd:: DESTINATION ${k8s_sd_package_dir}
        COMPONENT dev)
if(K8S_SD_SCRAPE)
    install(EXPORT k8s_sdScrapeTargets NAMESPACE k8s_sd:: DESTINATION ${k8s_sd_package_dir}
            COMPONENT dev)
endif()
configure_package_config_file(cmake/k8s_sdConfig.cmake.in k8s_sdConfig.cmake
    INSTALL_DESTINATION ${k8s_sd_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(k8s_sdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/k8s_sdConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/k8s_sdConfigVersion.cmake
              cmake/Findlibyaml.cmake
              cmake/Findnghttp2.cmake
              cmake/Findre2.cmake
        DESTINATION ${k8s_sd_package_dir} COMPONENT dev)

# pkg-config. All paths are relative to the .pc file, so that `cmake --install --prefix` and
# relocated packages work.
set(k8s_sd_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(ABSOLUTE_PATH k8s_sd_pc_dir BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
           OUTPUT_VARIABLE k8s_sd_pc_full_dir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${k8s_sd_pc_full_dir}
           OUTPUT_VARIABLE k8s_sd_pc_up)
set(k8s_sd_pc_libdir "\${prefix}")
cmake_path(APPEND k8s_sd_pc_libdir ${CMAKE_INSTALL_LIBDIR})
set(k8s_sd_pc_includedir "\${prefix}")
cmake_path(APPEND k8s_sd_pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
get_target_property(k8s_sd_type k8s_sd TYPE)
set(k8s_sd_pc_shared "")
if(k8s_sd_type STREQUAL "SHARED_LIBRARY")
    set(k8s_sd_pc_shared " -DK8S_SD_SHARED")
endif()
set(k8s_sd_pc_http2 "")
if(K8S_SD_HAS_HTTP2)
    set(k8s_sd_pc_http2 ", libnghttp2")
endif()
set(packages k8s_sd k8s_sd-sim)
if(K8S_SD_SCRAPE)
    list(APPEND packages k8s_sd-scrape)
endif()
foreach(package IN LISTS packages)
    configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${k8s_sd_pc_dir}
            COMPONENT dev)
endforeach()

if(TARGET k8s_sd_c)
    include(cmake/install_c.cmake)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT c)
endif()
