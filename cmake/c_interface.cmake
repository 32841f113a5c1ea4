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
target_include_directories(k8s_sd_c_objects PRIVATE src)
k8s_sd_library(k8s_sd_c_objects)
set_target_properties(k8s_sd_c_objects PROPERTIES UNITY_BUILD ${K8S_SD_UNITY}
    UNITY_BUILD_BATCH_SIZE 0)
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
# have another Boost. Its section groups are dissolved first: the linker of the host would merge
# groups by their names, local or not. Sanitizers need their symbols.
set(k8s_sd_joining_linker "")
if(_CMAKE_TOOLCHAIN_PREFIX OR NOT CMAKE_CROSSCOMPILING)
    find_program(K8S_SD_GNU_LINKER ${_CMAKE_TOOLCHAIN_PREFIX}ld.bfd)
endif()
find_program(K8S_SD_LLVM_LINKER NAMES ld.lld-21 ld.lld-20 ld.lld-19 ld.lld)
mark_as_advanced(K8S_SD_GNU_LINKER K8S_SD_LLVM_LINKER)
# With clang, CMAKE_LINKER may be an lld older than 19, which cannot do that.
foreach(linker IN LISTS CMAKE_LINKER K8S_SD_GNU_LINKER K8S_SD_LLVM_LINKER)
    if(linker AND NOT k8s_sd_joining_linker)
        execute_process(COMMAND ${linker} --help OUTPUT_VARIABLE help ERROR_QUIET)
        if(help MATCHES "--force-group-allocation")
            set(k8s_sd_joining_linker ${linker})
        endif()
    endif()
endforeach()
if(NOT K8S_SD_SANITIZE AND NOT (CMAKE_OBJCOPY AND k8s_sd_joining_linker))
    message(STATUS "k8s_sd: libk8s_sd_c.a is not built: it needs objcopy, and GNU ld or lld 19")
endif()
if(CMAKE_OBJCOPY AND k8s_sd_joining_linker AND NOT K8S_SD_SANITIZE)
    set(hide_symbols ${PROJECT_SOURCE_DIR}/cmake/hide_symbols.cmake)
    set(archive ${CMAKE_CURRENT_BINARY_DIR}/libk8s_sd_c.a)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/k8s_sd_c.o)
    add_custom_command(OUTPUT ${archive}
        COMMAND ${k8s_sd_joining_linker} -r --force-group-allocation -o ${object} ${k8s_sd_c_parts}
        COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DOBJECT=${object}
                -DKEEP=k8s_sd_[a-z]* -P ${hide_symbols}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND ${CMAKE_AR} qcs ${archive} ${object}
        DEPENDS ${k8s_sd_c_parts} ${hide_symbols} COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(k8s_sd_c_archive ALL DEPENDS ${archive})
endif()
