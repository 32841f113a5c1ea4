#include "cli/discovery_options.hpp"

#include "cli/option_values.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

namespace {

using Text = const std::string&;

std::vector<std::string_view> roles_of(k8s_sd::LabelDialect dialect) {
    std::vector<std::string_view> names;
    for (const std::string_view name : k8s_sd::role_names) {
        try {
            k8s_sd::parse_role(name, dialect);
            names.push_back(name);
        } catch (const k8s_sd::ConfigError&) {
            // The dialect lacks this role.
        }
    }
    return names;
}

/// \throws UsageError
k8s_sd::Role read_role(const std::string& name, k8s_sd::LabelDialect dialect) {
    try {
        return k8s_sd::parse_role(name, dialect);
    } catch (const k8s_sd::ConfigError& e) {
        const bool suggests = e.problem().find("did you mean") != std::string::npos;
        throw UsageError(e.problem() + (suggests ? "" : suggestion(name, roles_of(dialect))));
    }
}

/// Adds a condition, "pod:label:app=web", to the selector of the role: all conditions of a role
/// must hold.
void add_selector(k8s_sd::DiscoveryConfig& config, const std::string& text) {
    constexpr const char* form = "allowed is ROLE:label:SELECTOR or ROLE:field:SELECTOR";
    const std::size_t first = text.find(':');
    const std::size_t second = text.find(':', std::min(first, text.size() - 1) + 1);
    if (second == std::string::npos) throw UsageError("\"" + text + "\": " + form);
    const k8s_sd::Role role = read_role(text.substr(0, first), config.dialect);
    const std::string what = text.substr(first + 1, second - first - 1);
    const std::string condition = text.substr(second + 1);
    if (what == "label") {
        k8s_sd::LabelSelector::parse(condition);
    } else if (what == "field") {
        k8s_sd::FieldSelector::parse(condition);
    } else {
        throw UsageError("\"" + text + "\": " + form);
    }
    auto& selectors = config.selectors;
    auto it = std::find_if(selectors.begin(), selectors.end(),
                           [&](const auto& selector) { return selector.role == role; });
    if (it == selectors.end()) it = selectors.insert(it, k8s_sd::Selector{role, "", ""});
    std::string& conditions = what == "label" ? it->label : it->field;
    conditions += (conditions.empty() ? "" : ",") + condition;
}

/// The kinds of attachable metadata, by name.
const Choices<bool k8s_sd::AttachMetadata::*>& attachable() {
    static const Choices<bool k8s_sd::AttachMetadata::*> choices{
        {"node", &k8s_sd::AttachMetadata::node},
        {"namespace", &k8s_sd::AttachMetadata::namespace_},
        {"deployment", &k8s_sd::AttachMetadata::deployment},
        {"job", &k8s_sd::AttachMetadata::job},
        {"cronjob", &k8s_sd::AttachMetadata::cronjob}};
    return choices;
}

/// \param kinds  names with commas between them
void attach(k8s_sd::AttachMetadata& metadata, std::string_view kinds) {
    while (true) {
        const std::size_t comma = std::min(kinds.find(','), kinds.size());
        metadata.*one_of(kinds.substr(0, comma), attachable()) = true;
        if (comma == kinds.size()) return;
        kinds.remove_prefix(comma + 1);
    }
}

}  // namespace

std::vector<Option> discovery_options(k8s_sd::DiscoveryConfig& config) {
    return {{"--role", "ROLE", either(k8s_sd::role_names, to_string(config.role)),
             [&](Text v) { config.role = read_role(v, config.dialect); }},
            {.name = "--namespace",
             .argument = "NAME",
             .help = "only this namespace; repeatable",
             .set = [&](Text v) { config.namespaces.push_back(v); },
             // As in a configuration, it stands for all of them.
             .may_be_empty = true},
            {"--own-namespace", "", "only the namespace this program's pod runs in",
             flag(config.own_namespace)},
            {"--selector", "ROLE:KIND:SEL",
             "only objects of the role with these labels or fields (KIND), e.g. "
             "pod:label:app=web or pod:field:spec.nodeName=node-1; repeatable",
             [&](Text v) { add_selector(config, v); }},
            {"--attach", "KIND[,KIND]...", "add labels of " + listed(names_of(attachable())),
             [&](Text v) { attach(config.attach_metadata, v); }}};
}

}  // namespace cli
