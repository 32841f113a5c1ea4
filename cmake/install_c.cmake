# Component c: the library for C, with a package of its own. A host needs none of the core's
# dependencies to compile.
install(TARGETS k8s_sd_c EXPORT k8s_sd_cTargets
        LIBRARY COMPONENT c NAMELINK_COMPONENT c)
install(FILES include/k8s_sd_c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)
if(TARGET k8s_sd_c_archive)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libk8s_sd_c.a
            DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/k8s_sd_c)
# The CMake package k8s_sd_c has the target k8s_sd::c.
install(EXPORT k8s_sd_cTargets NAMESPACE k8s_sd:: FILE k8s_sd_cConfig.cmake
        DESTINATION ${package_dir} COMPONENT c)
# The interface stays compatible while the major version of the library's name does.
write_basic_package_version_file(k8s_sd_cConfigVersion.cmake COMPATIBILITY AnyNewerVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/k8s_sd_cConfigVersion.cmake DESTINATION ${package_dir}
        COMPONENT c)
configure_file(cmake/k8s_sd_c.pc.in k8s_sd_c.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/k8s_sd_c.pc DESTINATION ${k8s_sd_pc_dir} COMPONENT c)
