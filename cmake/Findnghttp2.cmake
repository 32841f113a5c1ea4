# Finds nghttp2 and defines the target nghttp2::nghttp2. Debian's package has pkg-config's file
# only. Installed with the library, for static linking.
if(NOT TARGET nghttp2::nghttp2 AND TARGET nghttp2)
    # The target of nghttp2's own build.
    add_library(nghttp2::nghttp2 ALIAS nghttp2)
endif()
if(NOT TARGET nghttp2::nghttp2)
    find_path(nghttp2_INCLUDE_DIR nghttp2/nghttp2.h)
    find_library(nghttp2_LIBRARY nghttp2)
    mark_as_advanced(nghttp2_INCLUDE_DIR nghttp2_LIBRARY)
    if(nghttp2_INCLUDE_DIR AND nghttp2_LIBRARY)
        add_library(nghttp2::nghttp2 UNKNOWN IMPORTED)
        set_target_properties(nghttp2::nghttp2 PROPERTIES
            IMPORTED_LOCATION "${nghttp2_LIBRARY}"
            INTERFACE_INCLUDE_DIRECTORIES "${nghttp2_INCLUDE_DIR}")
    endif()
endif()

set(nghttp2_target "")
if(TARGET nghttp2::nghttp2)
    set(nghttp2_target nghttp2::nghttp2)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(nghttp2
    REQUIRED_VARS nghttp2_target
    REASON_FAILURE_MESSAGE "Debian's package is libnghttp2-dev")
