#include "cli/dialect_option.hpp"

#include "cli/option_values.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cli {

namespace {

using k8s_sd::LabelDialect;
using k8s_sd::PrometheusVersion;

Choices<LabelDialect> dialects() {
    Choices<LabelDialect> choices;
    for (const auto dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        choices.emplace_back(to_string(dialect), dialect);
    }
    return choices;
}

[[noreturn]] void refuse(std::string_view value, const std::string& problem) {
    throw UsageError("\"" + std::string(value) + "\" is not allowed; " + problem);
}

/// \param value  "prometheus@3.14" \param at  the place of "@"
PrometheusVersion read_version(std::string_view value, std::size_t at) {
    const std::string_view name = value.substr(0, at);
    if (name != to_string(LabelDialect::prometheus)) {
        refuse(value,
               "only prometheus has versions, and the dialect of vmagent is victoriametrics");
    }
    const auto version = k8s_sd::prometheus_version_from_string(value.substr(at + 1));
    if (version) return *version;
    refuse(value, "the versions of prometheus are " + listed(k8s_sd::prometheus_version_names));
}

}  // namespace

Option dialect_option(const std::string& subject, LabelDialect& dialect,
                      PrometheusVersion& version) {
    const auto& versions = k8s_sd::prometheus_version_names;
    return {.name = "--dialect",
            .argument = "DIALECT",
            .help = subject + " " + either(names_of(dialects()), to_string(dialect)) +
                    "; with a version of Prometheus from " + std::string(versions.front()) +
                    " (default) to " + std::string(versions.back()) + ": prometheus@3.14",
            .set = [&](const std::string& value) {
                const std::size_t at = std::min(value.find('@'), value.size());
                version = at == value.size() ? PrometheusVersion() : read_version(value, at);
                dialect = one_of(std::string_view(value).substr(0, at), dialects());
            }};
}

}  // namespace cli
