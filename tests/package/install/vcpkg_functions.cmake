# The functions of vcpkg that the port calls, for `cmake -P`: they check their arguments, and
# install an existing build of the project. The real functions, and the tool, are not here.
#
# cmake -DBUILD=… -DPACKAGES=… -DPORT_FOLDER=… -DWANTED=feature;… -P vcpkg_functions.cmake
cmake_minimum_required(VERSION 3.23)
set(PORT k8s-sd)
set(CURRENT_PACKAGES_DIR ${PACKAGES})

# FEATURES <feature> <option>...: sets -D<option>=ON or OFF.
function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(options)
    list(LENGTH arg_FEATURES length)
    math(EXPR last "${length} - 1")
    foreach(i RANGE 0 ${last} 2)
        math(EXPR j "${i} + 1")
        list(GET arg_FEATURES ${i} feature)
        list(GET arg_FEATURES ${j} option)
        if(feature IN_LIST WANTED)
            list(APPEND options -D${option}=ON)
        else()
            list(APPEND options -D${option}=OFF)
        endif()
        file(APPEND ${PACKAGES}.features "${feature}\n")
    endforeach()
    set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

# Each option exists in the build.
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    file(STRINGS ${arg_SOURCE_PATH}/CMakeLists.txt project REGEX "^project\\(k8s_sd ")
    if(NOT project)
        message(FATAL_ERROR "${arg_SOURCE_PATH} is not the project")
    endif()
    load_cache(${BUILD} READ_WITH_PREFIX "" CMAKE_HOME_DIRECTORY)
    foreach(option IN LISTS arg_OPTIONS)
        if(NOT option MATCHES "^-D([A-Z0-9_]+)=(ON|OFF)$")
            message(FATAL_ERROR "${option} is no option with a value")
        endif()
        set(name ${CMAKE_MATCH_1})
        load_cache(${BUILD} READ_WITH_PREFIX "cached_" ${name})
        if(NOT DEFINED cached_${name})
            message(FATAL_ERROR "the project has no option ${name}")
        endif()
        file(APPEND ${PACKAGES}.options "${option}\n")
    endforeach()
endfunction()

# A build of the port has no programs.
function(vcpkg_cmake_install)
    foreach(component lib dev)
        execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PACKAGES}
                                --component ${component}
                        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endfunction()

# Moves the files, and corrects the number of folders up to the prefix.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
    file(GLOB found ${PACKAGES}/${arg_CONFIG_PATH} ${PACKAGES}/lib/*/cmake/${arg_PACKAGE_NAME})
    list(GET found 0 source)
    file(RELATIVE_PATH path ${PACKAGES} ${source})
    string(REGEX REPLACE "[^/]+" ".." up ${path})
    set(target ${PACKAGES}/share/${arg_PACKAGE_NAME})
    file(MAKE_DIRECTORY ${PACKAGES}/share)
    file(RENAME ${source} ${target})
    file(GLOB files ${target}/*.cmake)
    foreach(file IN LISTS files)
        file(READ ${file} text)
        string(REGEX REPLACE
            "(get_filename_component\\(_IMPORT_PREFIX [^\n]*\n)+"
            "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)\n"
            text "${text}")
        string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/${up}" "\${CMAKE_CURRENT_LIST_DIR}/../.."
               text "${text}")
        file(WRITE ${file} "${text}")
    endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(GLOB_RECURSE files ${PACKAGES}/lib/*.pc)
    if(NOT files)
        message(FATAL_ERROR "no file for pkg-config is installed")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(INSTALL ${arg_FILE_LIST} DESTINATION ${PACKAGES}/share/${PORT} RENAME copyright)
endfunction()

include(${PORT_FOLDER}/portfile.cmake)
