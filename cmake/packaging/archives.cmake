# `cpack -G TGZ --config <folder>/CPackConfig.cmake` makes an archive of each component: lib, dev,
# tools and c, the library for C. Packages for Debian come from debian/, with dependencies.
set(CPACK_PACKAGE_NAME k8s_sd)
set(CPACK_PACKAGE_VENDOR "The k8s_sd authors")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TGZ)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
