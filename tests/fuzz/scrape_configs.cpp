// Untrusted configuration files: parses them, and applies the rules of each job to a label set.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_scrape_configs -max_total_time=60 CORPUS

#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace k8s_sd;

void apply_rules(const ScrapeConfig& config) {
    const Relabeler relabeler(config.relabel_configs, relabel_options(config));
    for (const bool explained : {false, true}) {
        MutableLabels labels;
        labels.set("__address__", "10.0.0.1:80");
        labels.set("__meta_kubernetes_pod_label_app", "web");
        labels.set("a", "b\n\xc3\xa4\xff");
        if (explained) {
            (void)relabeler.explain(labels);
        } else {
            (void)relabeler.apply(labels);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view yaml(reinterpret_cast<const char*>(data) + 1, size - 1);
    ScrapeConfigOptions options;
    options.strict = (data[0] & 1U) != 0;
    if ((data[0] & 2U) != 0) options.dialect = LabelDialect::victoriametrics;
    if ((data[0] & 4U) != 0) {
        options.variables = [](std::string_view name) -> std::optional<std::string> {
            if (name.size() > 1) return std::nullopt;
            return "%{" + std::string(name) + "}%{b}";
        };
    }
    try {
        for (const ScrapeJob& job : parse_scrape_configs(yaml, options).jobs) {
            apply_rules(job.scrape);
        }
    } catch (const ConfigError&) {
        // An error is the only acceptable failure.
    }
    return 0;
}
