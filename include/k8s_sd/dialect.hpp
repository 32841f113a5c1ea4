#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The program whose labels to produce, name for name and value for value.
enum class LabelDialect : std::uint8_t {
    prometheus,       ///< Prometheus 3.5 LTS
    victoriametrics,  ///< vmagent 1.145
};

/// "prometheus" or "victoriametrics".
constexpr std::string_view to_string(LabelDialect dialect) noexcept {
    return dialect == LabelDialect::prometheus ? "prometheus" : "victoriametrics";
}

/// The dialect with this name; nullopt if there is none.
constexpr std::optional<LabelDialect> dialect_from_string(std::string_view name) noexcept {
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        if (to_string(dialect) == name) return dialect;
    }
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0
