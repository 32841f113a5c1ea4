#include "differential/promtool.hpp"

#include "differential/command.hpp"
#include "support/config_fixtures.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

json::object static_config(const LabelMap& labels) {
    json::object others;
    for (const auto& [name, value] : labels) {
        if (name != "__address__") others[name] = value;
    }
    return {{"targets", {labels.at("__address__")}}, {"labels", std::move(others)}};
}

std::string configuration(const std::string& rules, const std::vector<LabelMap>& targets) {
    json::array configs;
    for (const LabelMap& labels : targets) configs.push_back(static_config(labels));
    const json::object job{{"job_name", "j"},
                           {"relabel_configs", json::parse(rules)},
                           {"static_configs", std::move(configs)}};
    return json::serialize(json::object{{"scrape_configs", json::array{job}}});
}

LabelMap read_labels(const json::value& object) {
    LabelMap labels;
    for (const auto& [name, value] : object.as_object()) labels.emplace(name, value.as_string());
    return labels;
}

/// The results are unordered, and those without labels need not identify their target.
std::vector<Target> read_targets(const json::array& results, const std::vector<LabelMap>& targets) {
    std::map<std::string, LabelMap> by_address;
    for (const json::value& result : results) {
        LabelMap labels = read_labels(result.at("labels"));
        if (labels.empty()) continue;
        const std::string address = labels.at("__address__");
        by_address.emplace(address, std::move(labels));
    }
    std::vector<Target> found;
    for (const LabelMap& target : targets) {
        const auto it = by_address.find(target.at("__address__"));
        found.push_back(it == by_address.end() ? std::nullopt : Target(it->second));
    }
    return found;
}

}  // namespace

bool Promtool::is_installed() { return run_command("command -v promtool").success; }

bool Promtool::accepts(const std::string& file) {
    return run_command("promtool check config --syntax-only '" + file + "' >/dev/null 2>&1")
        .success;
}

std::optional<json::array> Promtool::targets(const std::string& file, const std::string& job,
                                             std::size_t count) {
    // promtool always uses the whole timeout; on a busy machine a short one is not enough.
    for (const char* timeout : {"100ms", "1s", "10s"}) {
        const CommandOutput output =
            run_command("promtool check service-discovery --timeout=" + std::string(timeout) +
                        " '" + file + "' '" + job + "' 2>/dev/null");
        if (!output.success) return std::nullopt;
        json::value results = json::parse(output.text);
        if (results.is_array() && results.as_array().size() == count) {
            return std::move(results.as_array());
        }
    }
    throw std::runtime_error("promtool does not list the targets of " + file);
}

std::optional<std::vector<Target>> Promtool::relabel(const std::string& rules,
                                                     const std::vector<LabelMap>& targets) {
    const TemporaryDirectory directory;
    const std::string file = directory.write("p.json", configuration(rules, targets));
    const auto results = Promtool::targets(file, "j", targets.size());
    if (!results) return std::nullopt;
    return read_targets(*results, targets);
}

}  // namespace k8s_sd::test
