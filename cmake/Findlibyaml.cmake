# Finds libyaml and defines the target libyaml::libyaml. Debian's package has pkg-config's file
# only. Installed with the library, for static linking.
if(NOT TARGET libyaml::libyaml AND TARGET yaml)
    # The target of libyaml's own build.
    add_library(libyaml::libyaml ALIAS yaml)
endif()
if(NOT TARGET libyaml::libyaml)
    find_path(libyaml_INCLUDE_DIR yaml.h)
    find_library(libyaml_LIBRARY yaml)
    mark_as_advanced(libyaml_INCLUDE_DIR libyaml_LIBRARY)
    if(libyaml_INCLUDE_DIR AND libyaml_LIBRARY)
        add_library(libyaml::libyaml UNKNOWN IMPORTED)
        set_target_properties(libyaml::libyaml PROPERTIES
            IMPORTED_LOCATION "${libyaml_LIBRARY}"
            INTERFACE_INCLUDE_DIRECTORIES "${libyaml_INCLUDE_DIR}")
    endif()
endif()

set(libyaml_target "")
if(TARGET libyaml::libyaml)
    set(libyaml_target libyaml::libyaml)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libyaml
    REQUIRED_VARS libyaml_target
    REASON_FAILURE_MESSAGE "Debian's package is libyaml-dev")
