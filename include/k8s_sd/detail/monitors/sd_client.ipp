#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/sd_client.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 10> sd_client_fields{"basicAuth",
                                                            "authorization",
                                                            "oauth2",
                                                            "tlsConfig",
                                                            "proxyUrl",
                                                            "noProxy",
                                                            "proxyFromEnvironment",
                                                            "proxyConnectHeader",
                                                            "followRedirects",
                                                            "enableHTTP2"};
/// `HTTPSDOptions` of VictoriaMetrics' operator (vmscrapes/scrapeconfig.go).
constexpr std::array<std::string_view, 7> vm_sd_client_fields{
    "basicAuth", "authorization",       "oauth2",         "tlsConfig",
    "proxyURL",  "proxy_client_config", "followRedirects"};

void check_vm_sd_client(const ObjectView& config, const JobContext& context) {
    refuse_vm_files(config, vm_section_fields, context);
    check_vm_client(config, vm_section_fields, context);
    check_vm_proxy(config["proxy_client_config"], context);
}

void put_vm_sd_client(JobObject& section, const ObjectView& config, const JobContext& context) {
    put_vm_client(section, config, vm_section_fields, context);
    put_nonempty(section, "proxy_url", config.text("proxyURL"));
    put_vm_proxy(section, config["proxy_client_config"], context);
    if (const auto follow = config.flag("followRedirects")) {
        put(section, "follow_redirects", *follow);
    }
}

}  // namespace

void check_sd_client(const ObjectView& config, const JobContext& context) {
    if (context.owner.vm) return check_vm_sd_client(config, context);
    check_basic_auth(config["basicAuth"], context);
    check_authorization(config["authorization"], context);
    check_oauth2(config["oauth2"], context);
    check_tls(config["tlsConfig"], context);
    check_proxy(config, context);
}

void put_sd_client(JobObject& section, const ObjectView& config, const JobContext& context) {
    if (context.owner.vm) return put_vm_sd_client(section, config, context);
    const ObjectView none(nullptr, "", context.faults);
    put_basic_auth(section, config["basicAuth"], context);
    put_authorization(section, config["authorization"], none, context);
    put_oauth2(section, config["oauth2"], context);
    put_proxy(section, config, context);
    put_redirects_and_http2(section, config, "enableHTTP2", context);
    if (auto tls = tls_section(config["tlsConfig"], context)) {
        put(section, "tls_config", std::move(*tls));
    }
}

bool is_sd_client_field(std::string_view field, const JobContext& context) {
    const auto has = [&](const auto& fields) {
        return std::find(fields.begin(), fields.end(), field) != fields.end();
    };
    return context.owner.vm ? has(vm_sd_client_fields) : has(sd_client_fields);
}

}  // namespace k8s_sd::inline v0::detail
