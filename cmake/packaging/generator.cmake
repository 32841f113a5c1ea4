# Read by cpack, once for each generator: an archive has one folder, a package begins at the root.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
