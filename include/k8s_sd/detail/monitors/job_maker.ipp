#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/monitors/job_maker.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Roughly the memory of the compiled rules, without their patterns for RE2.
std::size_t bytes_of_compiled(const ScrapeConfig& config) {
    constexpr std::size_t per_rule = 1024;
    constexpr std::size_t per_byte = 16;  // of a selector: of many short conditions
    std::size_t bytes = 0;
    for (const auto* rules : {&config.relabel_configs, &config.metric_relabel_configs}) {
        bytes += rules->size() * per_rule;
        for (const RelabelRule& rule : *rules) {
            for (const std::string& selector : rule.if_)
                bytes += per_rule + per_byte * selector.size();
        }
    }
    return bytes;
}

void replace_all(std::string& text, std::string_view what, std::string_view value) {
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at)) {
        text.replace(at, what.size(), value);
        at += value.size();
    }
}

bool names_files(const TlsConfig& tls) {
    return !tls.ca_file.empty() || !tls.cert_file.empty() || !tls.key_file.empty();
}

bool names_files(const std::vector<HttpHeader>& headers) {
    return std::any_of(headers.begin(), headers.end(),
                       [](const HttpHeader& header) { return !header.file.empty(); });
}

bool names_files(const AuthConfig& auth) {
    if (!auth.bearer_token_file.empty() || !auth.username_file.empty() ||
        !auth.password_file.empty()) {
        return true;
    }
    return auth.oauth2 &&
           (!auth.oauth2->client_secret_file.empty() || names_files(auth.oauth2->tls) ||
            names_files(auth.oauth2->headers) || names_files(auth.oauth2->proxy.connect_headers));
}

/// Whether the key of an HTTP client, or one within its value, names a file.
bool names_files(std::string_view key, const boost::json::value& value) {
    if (key.ends_with("_file")) return value.is_string() && !value.get_string().empty();
    const boost::json::object* section = value.if_object();
    return section && std::any_of(section->begin(), section->end(), [](const auto& entry) {
               return names_files(entry.key(), entry.value());
           });
}

/// Whether the job reads credentials or TLS material from files.
bool names_files(const ScrapeJob& job) {
    const ScrapeClient& client = *job.client;
    if (names_files(client.auth) || names_files(client.tls) || names_files(client.headers) ||
        names_files(client.proxy.connect_headers)) {
        return true;
    }
    // Those for the proxy are handed to the host unread.
    return std::any_of(job.settings.begin(), job.settings.end(), [](const auto& setting) {
        const auto& [key, value] = setting;
        return key.starts_with("proxy_") && names_files(key, boost::json::parse(value.json));
    });
}

}  // namespace

void JobMaker::set_owner(const MonitorOwner& owner) {
    const boost::json::object global = global_section(owner, config_.options);
    const std::string global_text = boost::json::serialize(global);
    if (!reader_ || global_text != global_text_ || owner.vm.has_value() != is_of_vm_) {
        ScrapeConfigOptions options;
        options.prometheus_version = config_.prometheus_version;
        if (owner.vm) options.dialect = LabelDialect::victoriametrics;
        reader_ = ScrapeJobReader(global, options);
        global_text_ = global_text;
        is_of_vm_ = owner.vm.has_value();
    }
    zones_ = owner.topology;
    target_rules_.clear();  // they depend on its zones
    metric_rules_.clear();  // and both on its dialect
}

JobMaker::Made JobMaker::make(const std::string& object, const GeneratedJob& generated,
                              const std::vector<Made>& before, PatternBudget& patterns) {
    ScrapeJob job = reader_->read(generated.config);
    job.discovery.configs = adapted(job.discovery.configs);
    if (config_.deny_file_access && names_files(job)) {
        throw ConfigError("tls_config or credentials",
                          "credentials and TLS material must not be in files "
                          "(deny_fs_access_through_sms)");
    }
    constexpr std::size_t per_instruction = 16;  // bytes, roughly
    const std::size_t spent = patterns.spent();
    Made made;
    made.rules = make_rules(job.scrape, patterns);
    made.bytes = generated.bytes + bytes_of_compiled(job.scrape) +
                 (patterns.spent() - spent) * per_instruction;
    const auto old = std::find_if(before.begin(), before.end(), [&](const Made& candidate) {
        return candidate.job->origin == generated.origin;
    });
    if (old != before.end() && job == *old->job->job) {
        made.job = old->job;
    } else {
        made.job = std::make_shared<const MonitorJob>(MonitorJob{
            generated.origin, object, std::make_shared<const ScrapeJob>(std::move(job))});
    }
    return made;
}

/// Sets the server, and replaces the name of the node.
void JobMaker::adapt(DiscoveryConfig& discovery) const {
    if (!config_.node_name.empty()) {
        for (Selector& selector : discovery.selectors) {
            for (const char* placeholder : {"$(NODE_NAME)", "%{KUBE_NODE_NAME}"}) {
                replace_all(selector.field, placeholder, config_.node_name);
            }
        }
    }
    if (!discovery.api_server.url.empty() || !discovery.kubeconfig_file.empty()) return;
    discovery.api_server = config_.api_server;
    discovery.kubeconfig_file = config_.kubeconfig_file;
    discovery.kubeconfig_context = config_.kubeconfig_context;
    if (discovery.cluster.name.empty()) discovery.cluster = config_.cluster;
}

SharedList<DiscoveryConfig> JobMaker::adapted(const SharedList<DiscoveryConfig>& configs) {
    SharedList<DiscoveryConfig> made;
    made.reserve(configs.size());
    for (std::size_t i = 0; i < configs.size(); ++i) made.share(adapted(configs.pointer(i)));
    return made;
}

/// Jobs that share a configuration as it is read share the adapted one, too.
JobMaker::DiscoveryPtr JobMaker::adapted(const DiscoveryPtr& read) {
    if (DiscoveryPtr known = discoveries_.find(read)) return known;
    DiscoveryConfig config = *read;
    adapt(config);
    DiscoveryPtr made = std::make_shared<const DiscoveryConfig>(std::move(config));
    if (read->api_server != ApiServerConfig()) return in_use_or(std::move(made));
    discoveries_.add(read, made);
    return made;
}

/// \returns an equal configuration of another job, if there is one
JobMaker::DiscoveryPtr JobMaker::in_use_or(DiscoveryPtr made) {
    KeyedHash hash(hash_key());
    hash.add(made->api_server.url);
    for (const std::string& ns : made->namespaces) hash.add(ns);
    const std::size_t key = hash.finish();
    const auto* const known =
        of_other_servers_.find(key, [&](const std::weak_ptr<const DiscoveryConfig>& other) {
            const DiscoveryPtr in_use = other.lock();
            return in_use && *in_use == *made;
        });
    if (DiscoveryPtr in_use = known ? known->lock() : nullptr) return in_use;
    of_other_servers_.add(key, made);
    return made;
}

/// The rule with the number of the shard in place of its placeholders.
RelabelRulePtr JobMaker::adapted(const RelabelRulePtr& rule) const {
    if (!config_.shard) return rule;
    std::vector<std::pair<std::string_view, std::string>> values{
        {"$(SHARD)", std::to_string(*config_.shard)}};
    if (!zones_.empty()) {
        values.emplace_back("$(INZONE_SHARD)", std::to_string(*config_.shard / zones_.size()));
        values.emplace_back("$(TOPOLOGY_ZONE)", zones_[*config_.shard % zones_.size()]);
    }
    RelabelRule now = *rule;
    for (const auto& [placeholder, value] : values) {
        replace_all(now.regex, placeholder, value);
        replace_all(now.replacement, placeholder, value);
    }
    return now == *rule ? rule : std::make_shared<const RelabelRule>(std::move(now));
}

/// Compiles the rules of the job, in place. Pools do not use those for metrics, but they are
/// compiled at each change.
/// \returns those that earlier jobs do not have
/// \throws ConfigError for those that pools would refuse
std::vector<SharedRulePtr> JobMaker::make_rules(ScrapeConfig& config, PatternBudget& patterns) {
    const RelabelOptions options = relabel_options(config);
    std::vector<SharedRulePtr> own;
    const auto make = [&](const char* where, MadeRules& known, RelabelRules& rules,
                          const auto& adapt_rule) {
        RelabelRules made;
        made.reserve(rules.size());
        for (std::size_t i = 0; i < rules.size(); ++i) {
            const RelabelRulePtr& read = rules.pointer(i);
            SharedRulePtr rule = known.find(read);
            if (!rule || !patterns.count(rule->patterns())) {
                try {
                    rule = shared_rule(*adapt_rule(read), options, patterns);
                } catch (const ConfigError& e) {
                    throw ConfigError(where + ("[" + std::to_string(i) + "].") + e.where(),
                                      e.problem());
                }
                if (is_small(*rule)) known.add(read, rule);
                own.push_back(rule);
            }
            made.share(rule->rule());
        }
        rules = std::move(made);
    };
    make("relabel_configs", target_rules_, config.relabel_configs,
         [&](const RelabelRulePtr& rule) { return adapted(rule); });
    make("metric_relabel_configs", metric_rules_, config.metric_relabel_configs,
         [](const RelabelRulePtr& rule) { return rule; });
    return own;
}

}  // namespace k8s_sd::inline v0::detail
