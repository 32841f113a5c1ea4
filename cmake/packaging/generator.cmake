# Read by cpack, once for each generator. An archive has one folder, a package begins at the root,
# and packages share no file.
if(CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/copyright.cmake)
else()
    set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
