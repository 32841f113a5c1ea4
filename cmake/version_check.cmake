# project() and, for hosts, a header state the version; both must agree.
file(STRINGS ${PROJECT_SOURCE_DIR}/include/k8s_sd/version.hpp k8s_sd_version_line
     REGEX "#define K8S_SD_VERSION ")
if(NOT k8s_sd_version_line STREQUAL "#define K8S_SD_VERSION \"${PROJECT_VERSION}\"")
    message(FATAL_ERROR "project(VERSION ${PROJECT_VERSION}) and include/k8s_sd/version.hpp "
                        "(${k8s_sd_version_line}) do not agree")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/k8s_sd/version.hpp)
