# Flags of this project's targets. They are PRIVATE: a host chooses its own flags.
set(K8S_SD_SANITIZE "" CACHE STRING
    "Sanitizers for all targets of this project, e.g. address,undefined")
# Tests and programs spend their time elsewhere, and optimising them dominates build time. In builds
# with a sanitizer or of type Debug this is true of the libraries, too.
option(K8S_SD_QUICK_BUILD
    "Compile libraries with -O1 (only if CMAKE_BUILD_TYPE is Release), all else with -O0" OFF)

# In seconds; sanitizers take several times as long, most of all without optimisation.
set(K8S_SD_TEST_TIMEOUT 600)
if(K8S_SD_SANITIZE)
    set(K8S_SD_TEST_TIMEOUT 1200)
endif()

# Each program works around defects of ThreadSanitizer.
if(K8S_SD_SANITIZE MATCHES "thread")
    add_library(k8s_sd_thread_sanitizer OBJECT tests/support/thread_sanitizer.cpp)
    target_compile_options(k8s_sd_thread_sanitizer PRIVATE -fsanitize=thread)
endif()

# Every target of this project, including programs.
function(k8s_sd_own_target target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
        "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual>" -Wcast-align)
    # gcc 12 wrongly reports overlapping copies in `"text" + string` (GCC bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
    # std::stable_sort of libstdc++ 12 uses a function it deprecates itself; clang 19 warns.
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
        # Sources compiled together see each other's helpers.
        if(CMAKE_UNITY_BUILD)
            target_compile_options(${target} PRIVATE -Wno-shadow)
        endif()
    endif()
    if(K8S_SD_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(K8S_SD_QUICK_BUILD)
        target_compile_options(${target} PRIVATE -O0)
    endif()
    if(K8S_SD_SANITIZE)
        target_compile_options(${target} PRIVATE
            -fsanitize=${K8S_SD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${K8S_SD_SANITIZE})
        # Tests of many rounds play fewer of them.
        if(K8S_SD_SANITIZE MATCHES "address")
            target_compile_definitions(${target} PRIVATE K8S_SD_ADDRESS_SANITIZER)
        elseif(K8S_SD_SANITIZE MATCHES "thread")
            target_compile_definitions(${target} PRIVATE K8S_SD_THREAD_SANITIZER)
        endif()
    endif()
    # Asio uses atomic_thread_fence, which ThreadSanitizer does not support; gcc warns of each use.
    if(K8S_SD_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
    get_target_property(type ${target} TYPE)
    # The tables of sanitizers need millions of relocations at each start of a program whose
    # address is not fixed.
    if(K8S_SD_SANITIZE MATCHES "address" AND type STREQUAL "EXECUTABLE")
        target_link_options(${target} PRIVATE -no-pie)
    endif()
    if(TARGET k8s_sd_thread_sanitizer AND type STREQUAL "EXECUTABLE")
        target_link_libraries(${target} PRIVATE k8s_sd_thread_sanitizer)
    endif()
endfunction()

# k8s_sd_threaded_tests(<list>): ThreadSanitizer finds nothing in tests with a single thread by
# design, so in its builds their sources are removed from the list.
function(k8s_sd_threaded_tests list)
    if(NOT K8S_SD_SANITIZE MATCHES "thread")
        return()
    endif()
    set(threaded)
    foreach(source IN LISTS ${list})
        file(STRINGS ${source} threads REGEX "std::j?thread|thread_pool|BlockingThreads|\
http_loopback|SlowWork|k8s_sd_program::Program")
        if(threads)
            list(APPEND threaded ${source})
        endif()
    endforeach()
    set(${list} ${threaded} PARENT_SCOPE)
endfunction()

# A library for hosts.
function(k8s_sd_library target)
    k8s_sd_own_target(${target})
    if(K8S_SD_QUICK_BUILD AND CMAKE_BUILD_TYPE STREQUAL "Release")
        target_compile_options(${target} PRIVATE -O1)
    endif()
    set_target_properties(${target} PROPERTIES
        VERSION ${PROJECT_VERSION}
        # Before 1.0 a minor version may change the interface.
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        # CMAKE_UNITY_BUILD is for tests and programs; see k8s_sd_join_layers().
        UNITY_BUILD OFF)
    # Plugins link the static library, so its code is position-independent by default.
    if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        target_compile_definitions(${target} PUBLIC K8S_SD_SHARED)
    endif()
endfunction()

# k8s_sd_join_layers(<target>): each source of src/lib is a layer or a few, and they have most
# headers and many instantiations in common.
function(k8s_sd_join_layers target)
    if(K8S_SD_LAYERS_AT_ONCE GREATER 1)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON
            UNITY_BUILD_BATCH_SIZE ${K8S_SD_LAYERS_AT_ONCE})
    endif()
endfunction()

# k8s_sd_precompile(<target> <group> [<headers>...]): the targets of a group share one precompiled
# header, compiled by the first of them. It holds the headers included by nearly all tests and
# programs.
function(k8s_sd_precompile target group)
    get_property(first GLOBAL PROPERTY k8s_sd_precompiled_${group})
    if(first)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        set_property(GLOBAL PROPERTY k8s_sd_precompiled_${group} ${target})
        target_precompile_headers(${target} PRIVATE
            <boost/asio/any_completion_handler.hpp> <boost/asio/any_io_executor.hpp>
            <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/post.hpp>
            <boost/asio/steady_timer.hpp> <boost/asio/strand.hpp> <boost/json.hpp>
            <chrono> <functional> <map> <memory> <optional> <string> <string_view> <vector>
            <k8s_sd/k8s_sd.hpp> ${ARGN})
    endif()
    # A compiler cache recognises a precompiled header by its content.
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
    # gcc 12 treats a precompiled system header as a user header, and warns about libstdc++.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE
            -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
endfunction()
