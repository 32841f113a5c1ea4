# Cross-compiles for 64-bit ARM with Debian's g++-12-aarch64-linux-gnu and runs tests under
# qemu-user. scripts/test-arm64 unpacks the libraries into K8S_SD_ARM64_ROOT.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES K8S_SD_ARM64_ROOT)
set(CMAKE_FIND_ROOT_PATH ${K8S_SD_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Debian keeps headers that depend on the architecture here, e.g. openssl/opensslconf.h.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${K8S_SD_ARM64_ROOT}/usr/include/aarch64-linux-gnu")
set(libraries ${K8S_SD_ARM64_ROOT}/usr/lib/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${libraries}")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
    -E "LD_LIBRARY_PATH=${libraries}:/usr/aarch64-linux-gnu/lib")
