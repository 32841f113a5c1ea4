#include "k8s_sd/detail/monitors/other_discoveries.hpp"
#include "k8s_sd/detail/monitors/sd_client.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Discoveries that are translated field by field, by their names in configurations:
/// `ec2_sd_configs` is `ec2SDConfigs` in an object, and others likewise. Those of both operators.
constexpr std::array<std::string_view, 22> other_discoveries{
    "ec2",      "azure",       "gce",      "openstack",  "digitalocean", "kuma",
    "eureka",   "docker",      "linode",   "hetzner",    "nomad",        "dockerswarm",
    "puppetdb", "lightsail",   "ovhcloud", "scaleway",   "ionos",        "vultr",
    "stackit",  "consulagent", "marathon", "yandexcloud"};
/// Those with a translation of their own.
constexpr std::array<std::string_view, 5> translated_discoveries{"file", "http", "kubernetes",
                                                                 "consul", "dns"};

constexpr std::string_view discovery_suffix = "SDConfigs";

/// `ec2` for `ec2SDConfigs`, `puppetdb` for `puppetDBSDConfigs`; empty for other fields.
std::string discovery_of(std::string_view field) {
    if (!field.ends_with(discovery_suffix)) return {};
    return lower_case(field.substr(0, field.size() - discovery_suffix.size()));
}

/// The entries of a discovery, whatever the case of its field: `digitalOceanSDConfigs`,
/// `ovhcloudSDConfigs`.
std::vector<ObjectView> entries_of(const ObjectView& spec, std::string_view discovery) {
    for (const auto& [field, value] : spec.members()) {
        if (discovery_of(field) == discovery) return value.items();
    }
    return {};
}

/// `{name, key}`: a key of a Secret.
bool is_secret_selector(const ObjectView& value) {
    if (!value.is_object()) return false;
    const auto members = value.members();
    return std::any_of(members.begin(), members.end(),
                       [](const auto& m) { return m.first == "key"; }) &&
           std::all_of(members.begin(), members.end(), [](const auto& m) {
               return m.first == "key" || m.first == "name" || m.first == "optional";
           });
}

std::string snake_case(std::string_view field) {
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    std::string key;
    for (std::size_t i = 0; i < field.size(); ++i) {
        const bool begins = is_upper(field[i]) && i > 0 && !is_upper(field[i - 1]);
        if (begins) key += '_';
        key += field[i];
    }
    return lower_case(key);
}

/// Whether a field is one of the discovery itself, not of its HTTP client.
bool is_own_field(std::string_view field, const JobContext& context) {
    return !is_sd_client_field(field, context);
}

/// A field of the API has no underscore; such a one could replace a section of the client.
void check_field_name(std::string_view field, const ObjectView& value) {
    if (field.find('_') == std::string_view::npos) return;
    value.refuse("is an unknown field of a service discovery, whose targets could be others",
                 "write the name in camelCase, or remove the field");
}

/// The key of a field in configurations.
std::string key_of(std::string_view field, const JobContext& context) {
    // VictoriaMetrics' operator reads the token of Consul's agent from there.
    if (context.owner.vm && field == "tokenRef") return "token";
    return snake_case(field);
}

/// The value of a field in configurations. VictoriaMetrics' operator writes enumerations as vmagent
/// spells them: `instance`, `dedicated_server`, `https` (vmscrapes/scrapeconfig.go).
boost::json::value value_of(std::string_view field, const ObjectView& value,
                            const JobContext& context) {
    const bool is_enumeration = field == "role" || field == "service" || field == "scheme";
    if (!context.owner.vm || !is_enumeration || !value.is_text()) return value.copy();
    return boost::json::string(snake_case(value.as_text().value_or("")));
}

JobObject other_entry(const ObjectView& config, const JobContext& context) {
    JobObject entry;
    put_sd_client(entry, config, context);
    for (const auto& [field, value] : config.members()) {
        if (!is_own_field(field, context)) continue;
        const std::string key = key_of(field, context);
        if (!is_secret_selector(value)) {
            put(entry, key, value_of(field, value, context));
            continue;
        }
        const auto reference = context.reference(MonitorReference::Kind::secret, value);
        put_text(entry, key, present_value(reference, context).value_or(""));
    }
    return entry;
}

void check_unknown_discoveries(const ObjectView& spec) {
    const auto is_one_of = [](const auto& list, std::string_view name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    for (const auto& [field, value] : spec.members()) {
        const std::string name = discovery_of(field);
        if (name.empty() || is_one_of(other_discoveries, name) ||
            is_one_of(translated_discoveries, name)) {
            continue;
        }
        value.refuse("is an unknown service discovery, whose targets would be missing",
                     "move it to an object of its own, or remove it");
    }
}

}  // namespace

void check_other_discoveries(const ObjectView& spec, const JobContext& context) {
    for (const std::string_view discovery : other_discoveries) {
        for (const ObjectView& config : entries_of(spec, discovery)) {
            check_sd_client(config, context);
            for (const auto& [field, value] : config.members()) {
                if (!is_own_field(field, context)) continue;
                check_field_name(field, value);
                if (is_secret_selector(value)) required_secret(value, context);
            }
        }
    }
    check_unknown_discoveries(spec);
}

void put_other_discoveries(JobObject& job, const ObjectView& spec, const JobContext& context) {
    for (const std::string_view discovery : other_discoveries) {
        boost::json::array entries;
        for (const ObjectView& config : entries_of(spec, discovery)) {
            entries.push_back(other_entry(config, context));
        }
        if (!entries.empty()) put(job, std::string(discovery) + "_sd_configs", std::move(entries));
    }
}

}  // namespace k8s_sd::inline v0::detail
