#include "options.hpp"

#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <charconv>

namespace scraper {

namespace {

template <class Number>
Number number(const std::string& text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || last != end) throw UsageError("must be a whole number from 0");
    return value;
}

std::chrono::milliseconds duration(const std::string& text) {
    return k8s_sd::parse_duration(text, k8s_sd::LabelDialect::victoriametrics);
}

/// "NUMBER/MEMBERS", e.g. "0/3".
void read_shard(const std::string& text, k8s_sd::ShardingOptions& options) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) throw UsageError("must be MEMBER/MEMBERS, e.g. 0/3");
    options.member = k8s_sd::parse_shard_member(text.substr(0, slash));
    options.members = number<unsigned>(text.substr(slash + 1));
}

void read_rule(const std::string& text, k8s_sd::ShardingOptions& options) {
    if (text == "modulo") {
        options.rule = k8s_sd::ShardingRule::modulo;
    } else if (text == "rendezvous") {
        options.rule = k8s_sd::ShardingRule::rendezvous;
    } else {
        throw UsageError("must be modulo or rendezvous");
    }
}

void read_dialect(const std::string& text, Options& options) {
    const auto dialect = k8s_sd::dialect_from_string(text);
    if (!dialect) throw UsageError("must be prometheus or victoriametrics");
    options.dialect = *dialect;
}

/// \returns false if there is no such option
bool read_flag(const std::string& name, Options& options) {
    if (name == "--sim") return options.sim = true;
    if (name == "--strict") return options.strict = true;
    if (name == "--explain") return options.explain = true;
    if (name == "--help") return options.help = true;
    if (name == "--version") return options.version = true;
    return false;
}

using Reader = void (*)(const std::string&, Options&);

Reader reader_of(const std::string& name) {
    if (name == "--config") return [](const auto& text, Options& o) { o.config_file = text; };
    if (name == "--dialect") return read_dialect;
    if (name == "--shard") return [](const auto& t, Options& o) { read_shard(t, o.sharding); };
    if (name == "--replication") {
        return
            [](const auto& t, Options& o) { o.sharding.replication_factor = number<unsigned>(t); };
    }
    if (name == "--shard-rule") return [](const auto& t, Options& o) { read_rule(t, o.sharding); };
    if (name == "--check-interval") {
        return [](const auto& t, Options& o) { o.check_interval = duration(t); };
    }
    if (name == "--report-interval") {
        return [](const auto& t, Options& o) { o.report_interval = duration(t); };
    }
    if (name == "--scrapes") {
        return [](const auto& t, Options& o) { o.scrapes = number<std::size_t>(t); };
    }
    if (name == "--timeout") return [](const auto& t, Options& o) { o.duration = duration(t); };
    return nullptr;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    for (auto it = arguments.begin(); it != arguments.end(); ++it) {
        if (read_flag(*it, options)) continue;
        const std::size_t equals = it->find('=');
        const std::string name = it->substr(0, equals);
        const Reader read = reader_of(name);
        if (!read) throw UsageError("unknown option " + name);
        const bool apart = equals == std::string::npos;
        if (apart && ++it == arguments.end()) throw UsageError(name + " needs a value");
        try {
            read(apart ? *it : it->substr(equals + 1), options);
        } catch (const k8s_sd::ConfigError& e) {
            throw UsageError(name + ": " + e.problem());
        } catch (const UsageError& e) {
            throw UsageError(name + ": " + e.what());
        }
    }
    if (options.help || options.version) return options;
    if (!options.sim && options.config_file.empty()) {
        throw UsageError("needs --sim, --config FILE or both");
    }
    return options;
}

std::string_view help_text() noexcept {
    return R"(Usage: scraper [OPTION]...
Discovers targets as the scrape_configs of a Prometheus or vmagent file say, and scrapes them.

Try it without a cluster:  scraper --sim

  --sim                      start a simulated cluster in this process, whose pods serve metrics on
                             127.0.0.1; configurations that name no server discover it
  --config FILE              a configuration file; read again when it changes and on SIGHUP.
                             Default with --sim: a small built-in one
  --strict                   refuse keys of the file that do not matter here
  --dialect DIALECT          read it as prometheus (default) or victoriametrics
  --shard MEMBER/MEMBERS     scrape only this member's share, e.g. 0/3 or agent-0/3
  --replication N            members that scrape each target (default 1)
  --shard-rule RULE          modulo (default, vmagent's) or rendezvous
  --check-interval DURATION  how often to look for changes of the file (default 5s)
  --report-interval DURATION how often to print what is there (default 5s; 0: never)
  --scrapes N                end after N scrapes
  --timeout DURATION         end after this time
  --explain                  print what the rules do to each job's first target, and end; status 1 if
                             not everything was listed in time (--timeout, default 10s)
  --help, --version

Exit status: 0 fine, 2 unusable arguments or configuration, 1 anything else. SIGINT and SIGTERM end
it with 0.
)";
}

}  // namespace scraper
