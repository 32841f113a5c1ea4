# Run by cpack before it makes Debian packages: the licence of each has the path of Debian's policy.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    file(GLOB licence ${CPACK_TEMPORARY_DIRECTORY}/${component}/*/share/doc/k8s_sd/LICENSE)
    string(TOUPPER ${component} upper)
    string(REGEX REPLACE "k8s_sd/LICENSE$" "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}" folder
           "${licence}")
    file(MAKE_DIRECTORY ${folder})
    file(RENAME ${licence} ${folder}/copyright)
    cmake_path(GET licence PARENT_PATH empty)
    file(REMOVE_RECURSE ${empty})
endforeach()
