#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/other_discoveries.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

struct OtherDiscovery {
    std::string_view field;
    std::string_view key;
};
constexpr std::array<OtherDiscovery, 19> other_discoveries{{
    {"ec2SDConfigs", "ec2_sd_configs"},
    {"azureSDConfigs", "azure_sd_configs"},
    {"gceSDConfigs", "gce_sd_configs"},
    {"openstackSDConfigs", "openstack_sd_configs"},
    {"digitalOceanSDConfigs", "digitalocean_sd_configs"},
    {"kumaSDConfigs", "kuma_sd_configs"},
    {"eurekaSDConfigs", "eureka_sd_configs"},
    {"dockerSDConfigs", "docker_sd_configs"},
    {"linodeSDConfigs", "linode_sd_configs"},
    {"hetznerSDConfigs", "hetzner_sd_configs"},
    {"nomadSDConfigs", "nomad_sd_configs"},
    {"dockerSwarmSDConfigs", "dockerswarm_sd_configs"},
    {"puppetDBSDConfigs", "puppetdb_sd_configs"},
    {"lightSailSDConfigs", "lightsail_sd_configs"},
    {"ovhcloudSDConfigs", "ovhcloud_sd_configs"},
    {"scalewaySDConfigs", "scaleway_sd_configs"},
    {"ionosSDConfigs", "ionos_sd_configs"},
    {"vultrSDConfigs", "vultr_sd_configs"},
    {"stackitSDConfigs", "stackit_sd_configs"},
}};

/// Fields of HTTP clients, translated apart.
constexpr std::array<std::string_view, 9> client_fields{"basicAuth",
                                                        "authorization",
                                                        "oauth2",
                                                        "tlsConfig",
                                                        "proxyUrl",
                                                        "noProxy",
                                                        "proxyFromEnvironment",
                                                        "proxyConnectHeader",
                                                        "followRedirects"};

bool is_client_field(std::string_view field) {
    return field == "enableHTTP2" ||
           std::find(client_fields.begin(), client_fields.end(), field) != client_fields.end();
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

JobObject other_entry(const ObjectView& config, const JobContext& context) {
    const ObjectView none(nullptr, "", context.faults);
    JobObject entry;
    put_basic_auth(entry, config["basicAuth"], context);
    put_authorization(entry, config["authorization"], none, context);
    put_oauth2(entry, config["oauth2"], context);
    put_proxy(entry, config, context);
    put_redirects_and_http2(entry, config, "enableHTTP2", context);
    if (auto tls = tls_section(config["tlsConfig"], context)) {
        put(entry, "tls_config", std::move(*tls));
    }
    for (const auto& [field, value] : config.members()) {
        // A field of the API has no underscore; it could replace a section made above.
        if (is_client_field(field) || field.find('_') != std::string_view::npos) continue;
        if (!is_secret_selector(value)) {
            put(entry, snake_case(field), value.copy());
            continue;
        }
        const auto reference = context.reference(MonitorReference::Kind::secret, value);
        put_text(entry, snake_case(field), present_value(reference, context).value_or(""));
    }
    return entry;
}

}  // namespace

void check_other_discoveries(const ObjectView& spec, const JobContext& context) {
    for (const OtherDiscovery& discovery : other_discoveries) {
        for (const ObjectView& config : spec.items(discovery.field)) {
            check_basic_auth(config["basicAuth"], context);
            check_authorization(config["authorization"], context);
            check_oauth2(config["oauth2"], context);
            check_tls(config["tlsConfig"], context);
            check_proxy(config, context);
            for (const auto& [field, value] : config.members()) {
                if (!is_client_field(field) && is_secret_selector(value)) {
                    required_secret(value, context);
                }
            }
        }
    }
}

void put_other_discoveries(JobObject& job, const ObjectView& spec, const JobContext& context) {
    for (const OtherDiscovery& discovery : other_discoveries) {
        boost::json::array entries;
        for (const ObjectView& config : spec.items(discovery.field)) {
            entries.push_back(other_entry(config, context));
        }
        if (!entries.empty()) put(job, discovery.key, std::move(entries));
    }
}

}  // namespace k8s_sd::inline v0::detail
