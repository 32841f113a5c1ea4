# Flags of our own targets. They are PRIVATE: a host's flags are the host's business.
set(K8S_SD_SANITIZE "" CACHE STRING
    "Sanitizers for all targets of this project, e.g. address,undefined")

function(k8s_sd_own_target target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
        -Woverloaded-virtual -Wcast-align)
    # gcc 12 sees overlapping copies in `"text" + string` (GCC bug 105651) that are not there.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
    # std::stable_sort of libstdc++ 12 uses what it deprecates itself; clang 19 says so.
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
    endif()
    if(PROJECT_IS_TOP_LEVEL)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(K8S_SD_SANITIZE)
        target_compile_options(${target} PRIVATE
            -fsanitize=${K8S_SD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${K8S_SD_SANITIZE})
    endif()
    # Asio uses atomic_thread_fence, which ThreadSanitizer does not follow; gcc warns of each.
    if(K8S_SD_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
endfunction()
