# The port is part of the sources of its version, so it builds the tree around it. A port of a
# registry has vcpkg_from_github(REPO … REF "v${VERSION}" SHA512 …) here.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        http2 K8S_SD_HTTP2
        scrape K8S_SD_SCRAPE
)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DK8S_SD_BUILD_TESTS=OFF
        -DK8S_SD_BUILD_PROGRAMS=OFF
        -DK8S_SD_BUILD_EXAMPLES=OFF
        -DK8S_SD_BUILD_C=OFF
        -DK8S_SD_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME k8s_sd CONFIG_PATH lib/cmake/k8s_sd)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
