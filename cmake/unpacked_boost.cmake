# Boost from the headers in K8S_SD_BOOST_INCLUDE, in place of an installed one: Boost.JSON is
# compiled from its headers. For tests with other versions (scripts/test-boost):
#   cmake -DCMAKE_PROJECT_k8s_sd_INCLUDE=cmake/unpacked_boost.cmake -DK8S_SD_BOOST_INCLUDE=DIR …
add_library(k8s_sd_unpacked_boost INTERFACE)
target_include_directories(k8s_sd_unpacked_boost SYSTEM INTERFACE ${K8S_SD_BOOST_INCLUDE})
# Without installed libraries, auto-linking must not look for them.
target_compile_definitions(k8s_sd_unpacked_boost INTERFACE BOOST_ALL_NO_LIB)
add_library(Boost::headers ALIAS k8s_sd_unpacked_boost)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/boost_json.cpp CONTENT "#include <boost/json/src.hpp>\n")
add_library(k8s_sd_unpacked_boost_json STATIC ${CMAKE_BINARY_DIR}/boost_json.cpp)
target_compile_features(k8s_sd_unpacked_boost_json PUBLIC cxx_std_20)
target_compile_options(k8s_sd_unpacked_boost_json PRIVATE -O1 -w)
set_target_properties(k8s_sd_unpacked_boost_json PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(k8s_sd_unpacked_boost_json PUBLIC k8s_sd_unpacked_boost)
add_library(Boost::json ALIAS k8s_sd_unpacked_boost_json)
