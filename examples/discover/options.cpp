#include "options.hpp"

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

namespace discover {

namespace {

using k8s_sd::LabelDialect;
using k8s_sd::Role;

template <class T, std::size_t N>
T one_of(const std::string& value, const std::pair<std::string_view, T> (&choices)[N]) {
    std::string allowed;
    for (const auto& [name, choice] : choices) {
        if (name == value) return choice;
        (allowed += allowed.empty() ? "" : ", ") += name;
    }
    throw UsageError("\"" + value + "\" is not allowed; allowed are " + allowed);
}

template <class Number>
Number number(const std::string& value, Number least, Number greatest, const char* allowed) {
    Number result{};
    const char* end = value.data() + value.size();
    const auto [last, error] = std::from_chars(value.data(), end, result);
    // In this form NaN is not allowed either.
    if (error != std::errc{} || last != end || !(result >= least && result <= greatest)) {
        throw UsageError("\"" + value + "\" is not allowed; allowed is " + allowed);
    }
    return result;
}

std::string readable_file(const std::string& path) {
    if (!std::ifstream(path)) throw UsageError("cannot read the file " + path);
    return path;
}

LabelDialect parse_dialect(const std::string& value) {
    return one_of<LabelDialect>(value, {{"prometheus", LabelDialect::prometheus},
                                        {"victoriametrics", LabelDialect::victoriametrics}});
}

/// Adds a condition to the selector of the role: conditions of one role all have to hold.
void add_selector(k8s_sd::DiscoveryConfig& config, const std::string& value) {
    constexpr const char* form = "allowed is ROLE:label:SELECTOR or ROLE:field:SELECTOR";
    const std::size_t first = value.find(':');
    const std::size_t second = value.find(':', std::min(first, value.size() - 1) + 1);
    if (second == std::string::npos) throw UsageError("\"" + value + "\": " + form);
    const Role role = k8s_sd::parse_role(value.substr(0, first), config.dialect);
    const std::string what = value.substr(first + 1, second - first - 1);
    const std::string text = value.substr(second + 1);
    if (what == "label") {
        k8s_sd::LabelSelector::parse(text);
    } else if (what == "field") {
        k8s_sd::FieldSelector::parse(text);
    } else {
        throw UsageError("\"" + value + "\": " + form);
    }
    auto& selectors = config.selectors;
    auto it = std::find_if(selectors.begin(), selectors.end(),
                           [&](const auto& selector) { return selector.role == role; });
    if (it == selectors.end()) it = selectors.insert(it, k8s_sd::Selector{role, "", ""});
    std::string& condition = what == "label" ? it->label : it->field;
    condition += (condition.empty() ? "" : ",") + text;
}

void attach(k8s_sd::AttachMetadata& metadata, std::string_view kinds) {
    using Member = bool k8s_sd::AttachMetadata::*;
    while (true) {
        const std::size_t comma = std::min(kinds.find(','), kinds.size());
        const Member member = one_of<Member>(std::string(kinds.substr(0, comma)),
                                             {{"node", &k8s_sd::AttachMetadata::node},
                                              {"namespace", &k8s_sd::AttachMetadata::namespace_},
                                              {"deployment", &k8s_sd::AttachMetadata::deployment},
                                              {"job", &k8s_sd::AttachMetadata::job},
                                              {"cronjob", &k8s_sd::AttachMetadata::cronjob}});
        metadata.*member = true;
        if (comma == kinds.size()) return;
        kinds.remove_prefix(comma + 1);
    }
}

k8s_sd::Duration parse_timeout(const std::string& value) {
    const auto seconds =
        number(value, 0.001, 1e6, "a number of seconds from 0.001 to 1000000, such as 2.5");
    return std::chrono::duration_cast<k8s_sd::Duration>(std::chrono::duration<double>(seconds));
}

Output parse_output(const std::string& value) {
    return one_of<Output>(value, {{"text", Output::text},
                                  {"json", Output::json},
                                  {"targets", Output::targets},
                                  {"quiet", Output::quiet}});
}

k8s_sd::LogLevel parse_log_level(const std::string& value) {
    using enum k8s_sd::LogLevel;
    return one_of<k8s_sd::LogLevel>(
        value,
        {{"off", off}, {"error", error}, {"warning", warning}, {"info", info}, {"debug", debug}});
}

/// An option: its name, whether it takes a value, and what it does with it.
struct OptionRule {
    std::string_view name;
    bool has_value;
    void (*apply)(Options&, const std::string& value);
};

using Text = const std::string&;

constexpr OptionRule rules[] = {
    {"--sim", false, [](Options& o, Text) { o.sim = true; }},
    {"--api-server", true, [](Options& o, Text v) { o.config.api_server.url = v; }},
    {"--token-file", true,
     [](Options& o, Text v) { o.config.api_server.auth.bearer_token_file = readable_file(v); }},
    {"--ca-file", true,
     [](Options& o, Text v) { o.config.api_server.tls.ca_file = readable_file(v); }},
    {"--tls-server-name", true,
     [](Options& o, Text v) { o.config.api_server.tls.server_name = v; }},
    {"--insecure-skip-tls-verify", false,
     [](Options& o, Text) { o.config.api_server.tls.insecure_skip_verify = true; }},
    {"--kubeconfig", true, [](Options& o, Text v) { o.config.kubeconfig_file = v; }},
    {"--context", true, [](Options& o, Text v) { o.config.kubeconfig_context = v; }},
    {"--sd-config", true, [](Options&, Text) {}},  // load_base() has applied it
    {"--role", true,
     [](Options& o, Text v) { o.config.role = k8s_sd::parse_role(v, o.config.dialect); }},
    {"--namespace", true, [](Options& o, Text v) { o.config.namespaces.push_back(v); }},
    {"--own-namespace", false, [](Options& o, Text) { o.config.own_namespace = true; }},
    {"--selector", true, [](Options& o, Text v) { add_selector(o.config, v); }},
    {"--attach", true, [](Options& o, Text v) { attach(o.config.attach_metadata, v); }},
    {"--dialect", true, [](Options& o, Text v) { o.config.dialect = parse_dialect(v); }},
    {"--jobs", true,
     [](Options& o, Text v) { o.jobs = number(v, 1u, 100'000u, "a number from 1 to 100000"); }},
    {"--once", false, [](Options& o, Text) { o.once = true; }},
    {"--timeout", true, [](Options& o, Text v) { o.timeout = parse_timeout(v); }},
    {"--output", true, [](Options& o, Text v) { o.output = parse_output(v); }},
    {"--log-level", true, [](Options& o, Text v) { o.log_level = parse_log_level(v); }},
    {"--help", false, [](Options& o, Text) { o.help = true; }},
    {"--version", false, [](Options& o, Text) { o.version = true; }},
};

struct Argument {
    const OptionRule* rule;
    std::string value;
};

const OptionRule& find_rule(std::string_view name) {
    const auto* rule = std::find_if(std::begin(rules), std::end(rules),
                                    [&](const OptionRule& r) { return r.name == name; });
    if (rule != std::end(rules)) return *rule;
    throw UsageError((name.starts_with('-') ? "unknown option " : "unexpected argument ") +
                     std::string(name) + "; --help lists the options");
}

/// "--name value" and "--name=value".
std::vector<Argument> split(const std::vector<std::string>& arguments) {
    std::vector<Argument> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& text = arguments[i];
        const std::size_t equals = text.starts_with("--") ? text.find('=') : std::string::npos;
        const OptionRule& rule = find_rule(std::string_view(text).substr(0, equals));
        const std::string name(rule.name);
        Argument argument{&rule, ""};
        if (!rule.has_value) {
            if (equals != std::string::npos) throw UsageError(name + " takes no value");
        } else if (equals != std::string::npos) {
            argument.value = text.substr(equals + 1);
        } else if (++i < arguments.size()) {
            argument.value = arguments[i];
        }
        // An empty namespace means all of them, as in a configuration.
        if (rule.has_value && argument.value.empty() &&
            (rule.name != "--namespace" || i == arguments.size())) {
            throw UsageError(name + " needs a value");
        }
        result.push_back(std::move(argument));
    }
    return result;
}

void apply(Options& options, const Argument& argument) {
    const std::string name(argument.rule->name);
    try {
        argument.rule->apply(options, argument.value);
    } catch (const k8s_sd::ConfigError& e) {
        throw UsageError(name + ": " + e.problem());
    } catch (const UsageError& e) {
        throw UsageError(name + ": " + e.what());
    }
}

/// The dialect decides how the file of --sd-config and the other options are read.
void load_base(Options& options, const std::vector<Argument>& arguments) {
    const Argument* file = nullptr;
    for (const Argument& argument : arguments) {
        if (argument.rule->name == "--dialect") apply(options, argument);
        if (argument.rule->name != "--sd-config") continue;
        if (file) throw UsageError("--sd-config: may be given once only");
        file = &argument;
    }
    if (file) options.config = k8s_sd::load_sd_config(file->value, options.config.dialect);
}

void check(const Options& options) {
    if (options.output == Output::targets && !options.once) {
        throw UsageError("--output: targets needs --once");
    }
    if (!options.sim) return;
    const auto& config = options.config;
    if (config.api_server != k8s_sd::ApiServerConfig{} || !config.kubeconfig_file.empty() ||
        !config.kubeconfig_context.empty()) {
        throw UsageError("--sim: is a server of its own; name no other one (--api-server, "
                         "--kubeconfig, ... or in the file of --sd-config)");
    }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    const std::vector<Argument> split_arguments = split(arguments);
    for (const Argument& argument : split_arguments) {
        if (argument.rule->name == "--help" || argument.rule->name == "--version") {
            apply(options, argument);
            return options;
        }
    }
    load_base(options, split_arguments);
    for (const Argument& argument : split_arguments) apply(options, argument);
    check(options);
    return options;
}

std::string_view option_of_field(std::string_view field) noexcept {
    constexpr std::pair<std::string_view, std::string_view> options[] = {
        {"api_server.url", "--api-server"},
        {"api_server.auth.bearer_token_file", "--token-file"},
        {"api_server.tls.ca_file", "--ca-file"},
        {"api_server.tls.server_name", "--tls-server-name"},
        {"api_server.tls.insecure_skip_verify", "--insecure-skip-tls-verify"},
        {"kubeconfig_file", "--kubeconfig"},
        {"kubeconfig_context", "--context"},
        {"role", "--role"},
        {"namespaces", "--namespace"},
        {"own_namespace", "--own-namespace"},
        {"selectors", "--selector"},
        {"API server", "--api-server"},
    };
    for (const auto& [prefix, option] : options) {
        if (field.starts_with(prefix)) return option;
    }
    return {};
}

}  // namespace discover
