# k8s_sd::c, the library behind k8s_sd_c.h: the whole core in one library, which exports nothing but
# k8s_sd_*. Boost.JSON is compiled in; Boost's other parts are headers.
file(GLOB sources CONFIGURE_DEPENDS src/c/*.cpp)
if(NOT K8S_SD_SCRAPE)
    list(FILTER sources EXCLUDE REGEX "/(scrape_watch|pending_targets|target_event)\\.cpp$")
endif()
set(boost_json ${CMAKE_CURRENT_BINARY_DIR}/boost_json.cpp)
file(CONFIGURE OUTPUT ${boost_json} CONTENT "#include <boost/json/src.hpp>\n")
set_source_files_properties(${boost_json} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_library(k8s_sd_c_objects OBJECT ${sources} ${boost_json})
# OpenSSL is called directly only to initialise it.
target_link_libraries(k8s_sd_c_objects PRIVATE k8s_sd OpenSSL::SSL)
k8s_sd_library(k8s_sd_c_objects)
set_target_properties(k8s_sd_c_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
set(k8s_sd_c_parts $<TARGET_OBJECTS:k8s_sd_c_objects> $<TARGET_OBJECTS:k8s_sd>)
set(k8s_sd_c_libraries OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB libyaml::libyaml Threads::Threads)
set(k8s_sd_c_private "-lssl -lcrypto -lz -lyaml")
if(K8S_SD_SCRAPE)
    target_link_libraries(k8s_sd_c_objects PRIVATE k8s_sd_scrape)
    target_compile_definitions(k8s_sd_c_objects PRIVATE K8S_SD_C_SCRAPE)
    list(APPEND k8s_sd_c_parts $<TARGET_OBJECTS:k8s_sd_scrape>)
    list(APPEND k8s_sd_c_libraries re2::re2)
    string(APPEND k8s_sd_c_private " -lre2")
endif()
if(K8S_SD_HAS_HTTP2)
    list(APPEND k8s_sd_c_libraries nghttp2::nghttp2)
    string(APPEND k8s_sd_c_private " -lnghttp2")
endif()

set(k8s_sd_c_map ${PROJECT_SOURCE_DIR}/src/c/k8s_sd_c.map)
add_library(k8s_sd_c SHARED ${k8s_sd_c_parts})
add_library(k8s_sd::c ALIAS k8s_sd_c)
target_link_libraries(k8s_sd_c PRIVATE ${k8s_sd_c_libraries})
target_include_directories(k8s_sd_c INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
k8s_sd_own_target(k8s_sd_c)
# Threads that nothing waits for, such as those of name lookups, may outlive dlclose().
target_link_options(k8s_sd_c PRIVATE LINKER:--version-script=${k8s_sd_c_map} LINKER:-z,nodelete)
# The major version is that of the interface, K8S_SD_ABI_VERSION.
set_target_properties(k8s_sd_c PROPERTIES EXPORT_NAME c VERSION 1.${PROJECT_VERSION} SOVERSION 1
    LINKER_LANGUAGE CXX LINK_DEPENDS ${k8s_sd_c_map})

# The static library is one object: the symbols inside are bound, and then made local, so a host may
# have another Boost. Sanitizers need their symbols. Only GNU's linker can join section groups; with
# clang, CMake may find another one.
set(k8s_sd_linker_version "")
if(CMAKE_LINKER)
    execute_process(COMMAND ${CMAKE_LINKER} --version OUTPUT_VARIABLE k8s_sd_linker_version
                    ERROR_QUIET)
endif()
if(CMAKE_OBJCOPY AND k8s_sd_linker_version MATCHES "^GNU ld" AND NOT K8S_SD_SANITIZE)
    set(hide_symbols ${PROJECT_SOURCE_DIR}/cmake/hide_symbols.cmake)
    set(archive ${CMAKE_CURRENT_BINARY_DIR}/libk8s_sd_c.a)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/k8s_sd_c.o)
    add_custom_command(OUTPUT ${archive}
        COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} ${k8s_sd_c_parts}
        COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DOBJECT=${object}
                -DKEEP=k8s_sd_[a-z]* -P ${hide_symbols}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND ${CMAKE_AR} qcs ${archive} ${object}
        DEPENDS ${k8s_sd_c_parts} ${hide_symbols} COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(k8s_sd_c_archive ALL DEPENDS ${archive})
endif()
