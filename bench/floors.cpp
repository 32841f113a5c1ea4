// The floors of scripts/bench: the CPU time to read lists from a server and discard them, and to
// find the wanted fields in them. Prints one JSON object.

#include "floor.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
    if (argc < 4) {
        std::puts("usage: bench_floors PORT json|protobuf KIND...");
        return 2;
    }
    const auto port = static_cast<unsigned short>(std::atoi(argv[1]));
    const auto encoding =
        std::string_view(argv[2]) == "json" ? bench::Encoding::json : bench::Encoding::protobuf;
    double socket = 0, walk = 0;
    for (int i = 3; i < argc; ++i) {
        for (std::size_t kind = 0; kind < k8s_sd::kind_count; ++kind) {
            const auto one = static_cast<k8s_sd::Kind>(kind);
            if (to_string(one) != argv[i]) continue;
            socket += bench::measure_floor(port, encoding, bench::Floor::socket, one);
            walk += bench::measure_floor(port, encoding, bench::Floor::field_walk, one);
        }
    }
    std::printf("{\"socket\": %.6f, \"walk\": %.6f}\n", socket, walk);
    return 0;
}
