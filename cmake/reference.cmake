# `cmake --build <folder> --target reference` makes pages from the comments of the public headers.
# tests/package/docs/check_reference.py fails for undocumented names and for comments that Doxygen
# cannot parse.
find_program(K8S_SD_DOXYGEN doxygen)
mark_as_advanced(K8S_SD_DOXYGEN)
if(K8S_SD_DOXYGEN AND EXISTS ${PROJECT_SOURCE_DIR}/docs/Doxyfile.in)  # packages lack docs/
    set(K8S_SD_REFERENCE_DIR ${PROJECT_BINARY_DIR}/reference)
    configure_file(docs/Doxyfile.in Doxyfile @ONLY)
    add_custom_target(reference
        COMMAND ${CMAKE_COMMAND} -E make_directory ${K8S_SD_REFERENCE_DIR}
        COMMAND ${K8S_SD_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
        COMMENT "Reference: ${K8S_SD_REFERENCE_DIR}/index.html"
        VERBATIM)
endif()
