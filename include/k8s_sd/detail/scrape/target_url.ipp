#include "k8s_sd/detail/base/percent_encoding.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/detail/scrape/target_url.hpp"

#include <functional>
#include <map>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

using Label = MutableLabels::Label;
using Params = std::map<std::string, std::vector<std::string>, std::less<>>;

// What Go does not encode in these parts of a URL.
constexpr std::string_view plain_in_host = "!$&'()*+,;=:[]<>\"";
constexpr std::string_view plain_in_path = "$&+,/:;=@";

std::string_view get(std::span<const Label> labels, std::string_view name) {
    const Label* label = MutableLabels::find(labels, name);
    return label ? label->value : std::string_view();
}

Params merged_params(const ScrapeConfig& config, std::span<const Label> labels) {
    Params params(config.params.begin(), config.params.end());
    for (const Label& label : labels) {
        if (!label.name.starts_with(param_prefix)) continue;
        auto& values = params[std::string(label.name.substr(param_prefix.size()))];
        if (values.empty()) values.emplace_back();
        values.front() = label.value;
    }
    return params;
}

}  // namespace

std::string target_url(const ScrapeConfig& config, std::span<const Label> labels) {
    std::string url;
    const std::string_view scheme = get(labels, scheme_label);
    if (!scheme.empty()) (url += scheme) += ':';
    url += "//";
    append_escaped(url, get(labels, address_label_name), plain_in_host);
    const std::string_view path = get(labels, metrics_path_label);
    if (!path.empty() && path.front() != '/') url += '/';
    append_escaped(url, path, plain_in_path);
    for (const auto& [name, values] : merged_params(config, labels)) {
        for (const std::string& value : values) append_query(url, name, value);
    }
    return url;
}

}  // namespace k8s_sd::inline v0::detail
