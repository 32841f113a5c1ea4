#include "cli/process_variables.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

k8s_sd::VariableLookup process_variables() {
    return [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

}  // namespace cli
