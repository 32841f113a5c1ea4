#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/detail/text/url_text.hpp"

#include <functional>
#include <map>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

using Label = MutableLabels::Label;
using Labels = std::span<const Label>;
using Params = std::map<std::string, std::vector<std::string>, std::less<>>;

constexpr const char* address_is_missing = "there is no address: __address__ is empty";

// Characters Go leaves unencoded in these parts of a URL.
constexpr std::string_view plain_in_host = "!$&'()*+,;=:[]<>\"";
constexpr std::string_view plain_in_path = "$&+,/:;=@";

std::string_view value_of(Labels labels, std::string_view name, std::string_view fallback = {}) {
    const Label* label = MutableLabels::find(labels, name);
    return label && !label->value.empty() ? label->value : fallback;
}

/// Labels with parameters replace the first values.
void merge_params(Params& params, Labels labels) {
    for (const Label& label : labels) {
        if (!label.name.starts_with(param_prefix)) continue;
        auto& values = params[std::string(label.name.substr(param_prefix.size()))];
        if (values.empty()) values.emplace_back();
        values.front() = label.value;
    }
}

void append_params(std::string& url, char first_separator, const Params& params) {
    char separator = first_separator;
    for (const auto& [name, values] : params) {
        for (const std::string& value : values) {
            url += separator;
            append_query_text(url, name);
            url += '=';
            append_query_text(url, value);
            separator = '&';
        }
    }
}

TargetPlace encoded_place(const ScrapeConfig& config, Labels labels) {
    const std::string_view address = value_of(labels, address_label_name);
    if (address.empty()) return {{}, {}, address_is_missing};
    if (address.find('/') != std::string_view::npos) {
        return {{}, {}, "__address__ must be host:port, without scheme and path"};
    }
    TargetPlace place{{}, std::string(address), {}};
    const std::string_view scheme = value_of(labels, scheme_label);
    if (!scheme.empty()) (place.url += scheme) += ':';
    place.url += "//";
    append_escaped(place.url, address, plain_in_host);
    const std::string_view path = value_of(labels, metrics_path_label);
    if (!path.empty() && path.front() != '/') place.url += '/';
    // Go leaves exactly this path unencoded.
    append_escaped(place.url, path, path == "*" ? "*" : plain_in_path);
    Params params(config.params.begin(), config.params.end());
    merge_params(params, labels);
    append_params(place.url, '?', params);
    return place;
}

Params labelled_params(const ScrapeConfig& config, Labels labels) {
    Params params;
    for (const auto& [name, values] : config.params) {
        if (MutableLabels::find(labels, std::string(param_prefix) + name)) params[name] = values;
    }
    merge_params(params, labels);
    return params;
}

TargetPlace joined_place(const ScrapeConfig& config, Labels labels) {
    std::string_view address = value_of(labels, address_label_name);
    if (address.empty()) return {{}, {}, address_is_missing};
    std::string_view scheme = value_of(labels, scheme_label, "http");
    std::string_view path = value_of(labels, metrics_path_label, "/metrics");
    for (const std::string_view start : {"http://", "https://"}) {
        if (!address.starts_with(start)) continue;
        scheme = start.substr(0, start.find(':'));
        address.remove_prefix(start.size());
        break;
    }
    if (const std::size_t slash = address.find('/'); slash != std::string_view::npos) {
        path = address.substr(slash);
        address = address.substr(0, slash);
    }
    TargetPlace place;
    ((place.url += scheme) += "://") += address;
    if (!path.starts_with('/')) place.url += '/';
    place.url += path;
    const bool has_query = path.find('?') != std::string_view::npos;
    append_params(place.url, has_query ? '&' : '?', labelled_params(config, labels));
    place.instance = address;
    if (address.find(':') == std::string_view::npos) {
        place.instance += scheme == "https" ? ":443" : ":80";
    }
    place.problem = go_url_problem(place.url);
    if (!place.problem.empty()) place.problem = place.url + " is no URL: " + place.problem;
    return place;
}

}  // namespace

TargetPlace target_place(const ScrapeConfig& config, Labels labels) {
    return rules_of(config.dialect).joins_urls_as_they_are ? joined_place(config, labels)
                                                           : encoded_place(config, labels);
}

}  // namespace k8s_sd::inline v0::detail
