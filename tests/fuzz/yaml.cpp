// Untrusted YAML: reads every node.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_yaml -max_total_time=60 CORPUS

#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace k8s_sd;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        (void)detail::to_json(detail::YamlValue::parse(text, "f"));
    } catch (const ConfigError& error) {
        // Any other failure is a bug, as is an error without a line.
        if (!error.where().starts_with("f:")) std::abort();
    }
    return 0;
}
