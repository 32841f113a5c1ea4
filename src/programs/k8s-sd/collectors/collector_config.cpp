#include "collectors/collector_config.hpp"

#include "cli/json_text.hpp"
#include "jobs/prometheus_settings.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace k8s_sd_program {

namespace {

using cli::json_string;
using k8s_sd::RelabelAction;
using k8s_sd::RelabelRule;
using k8s_sd::RelabelRules;
using k8s_sd::ScrapeJob;

std::string json_bool(bool value) { return value ? "true" : "false"; }

template <class Texts>
std::string json_list(const Texts& texts) {
    std::string out = "[";
    for (const auto& text : texts) out += (out.size() == 1 ? "" : ",") + text;
    return out + "]";
}

std::string_view version_name(k8s_sd::TlsVersion version) {
    switch (version) {
        case k8s_sd::TlsVersion::tls_1_0: return "TLS10";
        case k8s_sd::TlsVersion::tls_1_1: return "TLS11";
        case k8s_sd::TlsVersion::tls_1_2: return "TLS12";
        case k8s_sd::TlsVersion::tls_1_3: break;
    }
    return "TLS13";
}

/// The members of a JSON object, sorted by name.
class Object {
 public:
    /// \param value  JSON
    void set(std::string name, std::string value) {
        members_.insert_or_assign(std::move(name), std::move(value));
    }
    /// Sets a text unless it is empty.
    void text(std::string name, std::string_view value) {
        if (!value.empty()) set(std::move(name), json_string(value));
    }
    bool empty() const noexcept { return members_.empty(); }
    std::string json_text() const {
        std::string out = "{";
        for (const auto& [name, value] : members_) {
            out += (out.size() == 1 ? "" : ",") + json_string(name) + ':' + value;
        }
        return out + "}";
    }

 private:
    std::map<std::string, std::string> members_;
};

class Writer {
 public:
    explicit Writer(bool show_secrets) : show_secrets_(show_secrets) {}

    std::string job(const ScrapeJob& job) const {
        Object out;
        for (const auto& [name, value] : job.settings) {
            if (is_prometheus_setting(name)) out.set(name, value.json);
        }
        scrape(out, job.scrape);
        client(out, *job.client);
        return out.json_text();
    }

 private:
    static void scrape(Object& out, const k8s_sd::ScrapeConfig& scrape) {
        out.text("job_name", scrape.job_name);
        out.text("scheme", scrape.scheme);
        out.text("metrics_path", scrape.metrics_path);
        out.text("scrape_interval", k8s_sd::format_duration(scrape.scrape_interval));
        if (scrape.scrape_timeout) {
            out.text("scrape_timeout", k8s_sd::format_duration(*scrape.scrape_timeout));
        }
        Object params;
        for (const auto& [name, values] : scrape.params) params.set(name, texts(values));
        if (!params.empty()) out.set("params", params.json_text());
        rules(out, "relabel_configs", scrape.relabel_configs);
        rules(out, "metric_relabel_configs", scrape.metric_relabel_configs);
        limit(out, "target_limit", scrape.target_limit);
        limit(out, "keep_dropped_targets", scrape.keep_dropped_targets);
        flag(out, "convert_classic_histograms_to_nhcb", scrape.convert_classic_histograms_to_nhcb);
        flag(out, "always_scrape_classic_histograms", scrape.always_scrape_classic_histograms);
        flag(out, "scrape_native_histograms", scrape.scrape_native_histograms);
        if (scrape.metric_name_validation_scheme == k8s_sd::NameValidation::legacy) {
            out.text("metric_name_validation_scheme", "legacy");
        }
    }

    static std::string texts(const std::vector<std::string>& values) {
        std::vector<std::string> out;
        for (const std::string& value : values) out.push_back(json_string(value));
        return json_list(out);
    }
    static void limit(Object& out, const char* name, std::size_t value) {
        if (value != 0) out.set(name, std::to_string(value));
    }
    static void flag(Object& out, const char* name, bool value) {
        if (value) out.set(name, "true");
    }

    static void rules(Object& out, const char* name, const RelabelRules& rules) {
        if (rules.empty()) return;
        std::vector<std::string> list;
        for (const RelabelRule& rule : rules) list.push_back(one_rule(rule));
        out.set(name, json_list(list));
    }
    static std::string one_rule(const RelabelRule& rule) {
        Object out;
        out.text("action", to_string(rule.action));
        if (!rule.source_labels.empty()) out.set("source_labels", texts(rule.source_labels));
        out.text("target_label", rule.target_label);
        // With these actions Prometheus refuses any other member, even a default one.
        if (rule.action == RelabelAction::keepequal || rule.action == RelabelAction::dropequal) {
            return out.json_text();
        }
        out.set("separator", json_string(rule.separator));
        out.set("regex", json_string(rule.regex));
        if (rule.action == RelabelAction::labeldrop || rule.action == RelabelAction::labelkeep) {
            return label_rule(rule);
        }
        out.set("replacement", json_string(rule.replacement));
        if (rule.modulus != 0) out.set("modulus", std::to_string(rule.modulus));
        return out.json_text();
    }
    static std::string label_rule(const RelabelRule& rule) {
        Object out;
        out.text("action", to_string(rule.action));
        out.set("regex", json_string(rule.regex));
        return out.json_text();
    }

    std::string secret(std::string_view text) const {
        return json_string(show_secrets_ ? text : std::string_view("<secret>"));
    }
    void secret(Object& out, const char* name, std::string_view text) const {
        if (!text.empty()) out.set(name, secret(text));
    }

    void client(Object& out, const k8s_sd::ScrapeClient& client) const {
        auth(out, client.auth);
        tls(out, client.tls);
        proxy(out, client.proxy);
        headers(out, "http_headers", client.headers);
        out.set("follow_redirects", json_bool(client.follow_redirects));
        out.set("enable_http2", json_bool(client.enable_http2));
    }

    void auth(Object& out, const k8s_sd::AuthConfig& auth) const {
        Object basic;
        basic.text("username", auth.username);
        basic.text("username_file", auth.username_file);
        secret(basic, "password", auth.password);
        basic.text("password_file", auth.password_file);
        if (!basic.empty()) out.set("basic_auth", basic.json_text());
        Object bearer;
        secret(bearer, "credentials", auth.bearer_token);
        bearer.text("credentials_file", auth.bearer_token_file);
        if (!bearer.empty()) {
            bearer.text("type", auth.scheme);
            out.set("authorization", bearer.json_text());
        }
        if (auth.oauth2) out.set("oauth2", oauth2(*auth.oauth2));
    }

    std::string oauth2(const k8s_sd::OAuth2Config& from) const {
        Object out;
        out.text("client_id", from.client_id);
        secret(out, "client_secret", from.client_secret);
        out.text("client_secret_file", from.client_secret_file);
        out.text("token_url", from.token_url);
        if (!from.scopes.empty()) out.set("scopes", texts(from.scopes));
        Object parameters;
        for (const auto& [name, value] : from.endpoint_params)
            parameters.set(name, json_string(value));
        if (!parameters.empty()) out.set("endpoint_params", parameters.json_text());
        tls(out, from.tls);
        proxy(out, from.proxy);
        headers(out, "http_headers", from.headers);
        return out.json_text();
    }

    void tls(Object& to, const k8s_sd::TlsConfig& from) const {
        if (from == k8s_sd::TlsConfig{}) return;
        Object out;
        out.text("ca", from.ca);
        out.text("ca_file", from.ca_file);
        out.text("cert", from.cert);
        out.text("cert_file", from.cert_file);
        secret(out, "key", from.key);
        out.text("key_file", from.key_file);
        out.text("server_name", from.server_name);
        flag(out, "insecure_skip_verify", from.insecure_skip_verify);
        const k8s_sd::TlsConfig usual;
        if (from.min_version != usual.min_version) {
            out.text("min_version", version_name(from.min_version));
        }
        if (from.max_version != usual.max_version) {
            out.text("max_version", version_name(from.max_version));
        }
        to.set("tls_config", out.json_text());
    }

    void proxy(Object& out, const k8s_sd::ProxyConfig& from) const {
        out.text("proxy_url", show_secrets_ ? from.url : without_password(from.url));
        out.text("no_proxy", from.no_proxy);
        flag(out, "proxy_from_environment", from.from_environment);
        if (from.connect_headers.empty()) return;
        std::map<std::string, std::vector<std::string>> values;
        for (const k8s_sd::HttpHeader& header : from.connect_headers) {
            values[header.name].push_back(secret(header.value));
        }
        Object headers;
        for (const auto& [name, list] : values) headers.set(name, json_list(list));
        out.set("proxy_connect_header", headers.json_text());
    }

    /// Like the redaction of Go's net/url.
    static std::string without_password(const std::string& url) {
        const std::size_t begin = url.find("://") == url.npos ? 0 : url.find("://") + 3;
        const std::size_t end = std::min(url.find('/', begin), url.size());
        const std::size_t at = url.substr(0, end).rfind('@');
        const std::size_t colon = url.find(':', begin);
        if (at == url.npos || at < begin || colon >= at) return url;
        return url.substr(0, colon + 1) + "xxxxx" + url.substr(at);
    }

    void headers(Object& out, const char* key, const std::vector<k8s_sd::HttpHeader>& from) const {
        if (from.empty()) return;
        using Texts = std::vector<std::string>;
        std::map<std::string, std::map<std::string, Texts>> lists;  // by header and kind of value
        for (const k8s_sd::HttpHeader& header : from) {
            auto& of_header = lists[header.name];
            if (!header.file.empty()) {
                of_header["files"].push_back(json_string(header.file));
            } else if (header.secret) {
                of_header["secrets"].push_back(secret(header.value));
            } else {
                of_header["values"].push_back(json_string(header.value));
            }
        }
        Object result;
        for (const auto& [name, of_header] : lists) {
            Object header;
            for (const auto& [kind, values] : of_header) header.set(kind, json_list(values));
            result.set(name, header.json_text());
        }
        out.set(key, result.json_text());
    }

    const bool show_secrets_;
};

bool is_vmagents(const RelabelRule& rule) {
    return rule.action > RelabelAction::labelkeep || !rule.if_.empty();
}

std::optional<std::string> why_not(const k8s_sd::ScrapeConfig& scrape) {
    for (const auto* rules : {&scrape.relabel_configs, &scrape.metric_relabel_configs}) {
        const auto rule = std::find_if(rules->begin(), rules->end(), is_vmagents);
        if (rule == rules->end()) continue;
        return scrape.job_name + " is not for collectors: a rule is one that only vmagent knows (" +
               (rule->if_.empty() ? std::string(to_string(rule->action)) : "if") + ")";
    }
    return std::nullopt;
}

/// The dropped keys in words, if any. Discovery keys do not count: collectors have their own.
std::optional<std::string> dropped_keys(const ScrapeJob& job) {
    std::string keys;
    for (const auto& [name, value] : job.settings) {
        if (is_prometheus_setting(name) || name.ends_with("_sd_configs")) continue;
        keys += (keys.empty() ? "" : ", ") + name;
    }
    if (keys.empty()) return std::nullopt;
    return job.scrape.job_name + ": collectors do not get " + keys +
           ": k8s-sd knows no such key of Prometheus that may be shown";
}

}  // namespace

std::vector<std::string> MonitorConfigs::set(const std::vector<k8s_sd::MonitorJobPtr>& jobs) {
    std::vector<std::string> problems;
    std::map<std::string, Texts> texts;
    const Writer masking(false);
    const Writer showing(true);
    for (const k8s_sd::MonitorJobPtr& job : jobs) {
        auto known = texts_.extract(job->origin);
        if (known && known.mapped().job == job->job) {
            texts.insert(std::move(known));
            continue;
        }
        Texts& made = texts[job->origin];
        made.job = job->job;
        if (auto problem = why_not(job->job->scrape)) {
            problems.push_back(std::move(*problem));
        } else {
            made.masked = masking.job(*job->job);
            made.unmasked = showing.job(*job->job);
        }
    }
    texts_ = std::move(texts);
    return problems;
}

std::string collector_configs(const k8s_sd::ScrapeConfigFile& file, bool show_secrets,
                              std::vector<std::string>& problems) {
    return collector_configs(file, MonitorConfigs(), show_secrets, problems);
}

std::string collector_configs(const k8s_sd::ScrapeConfigFile& file, const MonitorConfigs& monitors,
                              bool show_secrets, std::vector<std::string>& problems) {
    const Writer writer(show_secrets);
    Object jobs;
    for (const auto& [name, texts] : monitors.all()) {
        const std::string& text = show_secrets ? texts.unmasked : texts.masked;
        if (!text.empty()) jobs.set(name, text);
    }
    for (const ScrapeJob& job : file.jobs) {
        if (auto problem = why_not(job.scrape)) {
            problems.push_back(std::move(*problem));
        } else {
            if (auto dropped = dropped_keys(job)) problems.push_back(std::move(*dropped));
            jobs.set(job.scrape.job_name, writer.job(job));
        }
    }
    return jobs.json_text();
}

}  // namespace k8s_sd_program
