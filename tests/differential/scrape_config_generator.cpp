#include "differential/scrape_config_generator.hpp"

namespace k8s_sd::test {

namespace {

using Values = std::vector<std::string_view>;

const Values usual_switches{"true", "false", "yes", "off", "~"};
const Values odd_switches{"x", "1", "'true'", "[true]"};
const Values usual_limits{"0", "10", "~"};
const Values odd_limits{"x", "[]"};
const Values usual_rules{"[]",
                         "[{action: drop, source_labels: [a], regex: 'x|y'}]",
                         "[{source_labels: [__address__, job], target_label: c, separator: '/'}]",
                         "[{target_label: d, replacement: \"x\\ty\"}, {regex: '__tmp.*', action: "
                         "labeldrop}]",
                         "[{action: labelmap, regex: __param_(.+), replacement: p_$1}]",
                         "[{action: hashmod, source_labels: [job], modulus: 7, target_label: e}]",
                         "[{action: lowercase, source_labels: [a], target_label: a}]",
                         "[{action: Keep, source_labels: [job], regex: 'job-.'}]",
                         "[{source_labels: [job], regex: !!str 12, target_label: f}]"};
const Values odd_rules{"[{action: none}]",
                       "[{regex: '('}]",
                       "[{action: hashmod, source_labels: [a], target_label: b}]",
                       "[{source_labels: [a]}]",
                       "[{action: drop, source_labels: a}]",
                       "[{action: lowercase, source_labels: [a]}]",
                       "[{action: labeldrop, regex: a, target_label: b}]",
                       "[{action: hashmod, modulus: -1, target_label: b}]",
                       "[{regex: a, regexp: b}]",
                       "{}",
                       "x"};

const std::vector<SettingValues> global_settings{
    {"scrape_interval",
     {"15s", "'2m'", "1m30s", "0s", "1d", "500ms"},
     {"-1s", "5", "1.5s", "''", "1s1m", "[1s]", "x", "500y"}},
    {"scrape_timeout", {"5s", "100ms"}, {"1w", "x", "~~"}},
    {"evaluation_interval", {"15s", "1h"}, {"x", "-1m"}},
    {"external_labels", {"{a: b, c: \"d\"}", "{}", "~", "{a: 1}"}, {"[a]", "x"}},
    {"query_log_file", {"q.log"}, {"[q]"}},
    {"scrape_intervall", {}, {"1s"}},
};

const std::vector<SettingValues> job_settings{
    {"scrape_interval",
     {"15s", "'2m'", "1m30s", "0s", "1d", "5000ms", "1w"},
     {"-1s", "5", "1.5s", "''", "1s1m", "1m1m", "[1s]", "x", "500y", "99999999999999999999s"}},
    {"scrape_timeout", {"5s", "1s", "0s"}, {"8d", "x", "1h 1m"}},
    {"metrics_path", {"/m", "'/a b'", "m", "/m?a=b", "\"/\u00e4\""}, {"[a]", "{a: b}"}},
    {"scheme", {"http", "https"}, {"[http]"}},
    {"params",
     {"{a: [b, c], d: ['1']}", "{a: []}", "{}", "~", "{a: [1, true, ~]}", "{a: ['x y&z']}"},
     {"{a: b}", "{a: [[]]}", "{a: {}}", "[a]"}},
    {"honor_labels", usual_switches, odd_switches},
    {"honor_timestamps", usual_switches, odd_switches},
    {"sample_limit", usual_limits, odd_limits},
    {"target_limit", usual_limits, {"-1", "x", "[]"}},
    {"label_limit", usual_limits, odd_limits},
    {"label_name_length_limit", usual_limits, odd_limits},
    {"body_size_limit", {"10MB", "1KiB", "0"}, {"x", "[1MB]"}},
    {"follow_redirects", usual_switches, odd_switches},
    {"enable_http2", usual_switches, odd_switches},
    {"basic_auth",
     {"{username: u, password: p}", "{username: u, password_file: f}"},
     {"{username: u, password: p, password_file: f}", "{user: u}", "x"}},
    {"authorization",
     {"{credentials: c}", "{type: Token, credentials_file: f}"},
     {"{type: Basic, credentials: c}", "{credentials: c, credentials_file: f}", "[c]"}},
    {"bearer_token_file", {}, {"{}"}},
    {"tls_config",
     {"{insecure_skip_verify: true}", "{ca_file: f, server_name: s}", "{cert_file: c, key_file: k}",
      "{min_version: TLS12}", "{max_version: TLS10}", "{min_version: TLS10, max_version: TLS11}"},
     {"{min_version: TLS9}", "{min_version: tls12}", "{max_version: ''}", "{insecure: true}",
      "{cert_file: c}", "{key_file: k}"}},
    {"proxy_url", {"http://p:1", "''"}, {"'http://%zz'", "[p]"}},
    {"oauth2",
     {"{client_id: i, client_secret: s, token_url: 'http://t', scopes: [a]}"},
     {"{client_id: i, client_secret: s, client_secret_file: f, token_url: 'http://t'}", "{id: i}"}},
    {"relabel_configs", usual_rules, odd_rules},
    {"metric_relabel_configs", usual_rules, odd_rules},
    {"file_sd_configs",
     {"[{files: [a.json, 'b/*.yml']}]", "[{files: [c.yaml], refresh_interval: 10s}]"},
     {"[{files: []}]", "[{files: [a.txt]}]", "[{files: ['*/a.json']}]", "[{file: a.json}]"}},
    {"http_sd_configs",
     {"[{url: 'http://h/x'}]", "[{url: 'https://h', refresh_interval: 30s}]"},
     {"[{}]", "[{url: 'ftp://h'}]", "[{url: 'http://'}]", "[{uri: 'http://h'}]"}},
    {"static_config", {}, {"[]"}},
    {"job_name", {}, {"again"}},
};

const Values usual_labels{"{}",
                          "{a: b}",
                          "{a: 'x', __tmp: y, job: other}",
                          "{__scheme__: https}",
                          "{a: \"x\\n y\", b: 1, c: true}",
                          "~",
                          "{__metrics_path__: /other}"};
const Values odd_labels{"[a]", "{a: [b]}", "x"};

}  // namespace

std::string ScrapeConfigGenerator::settings(const std::vector<SettingValues>& all,
                                            const std::string& indent, std::size_t percent) {
    std::string text;
    for (const SettingValues& setting : all) {
        if (!chance(percent)) continue;
        const bool odd = odd_ && chance(30);
        const Values& values = odd ? setting.odd : setting.usual;
        if (values.empty()) continue;
        if (odd) odd_ = false;
        text += indent + std::string(setting.key) + ": " + one_of(values) + "\n";
    }
    return text;
}

std::string ScrapeConfigGenerator::job(std::size_t number) {
    std::string text = "- job_name: job-" + std::to_string(number) + "\n";
    text += settings(job_settings, "  ", 15);
    if (chance(10)) return text;
    text += "  static_configs:\n";
    for (std::size_t i = 0, n = 1 + below(2); i < n; ++i) {
        const std::string host = "h" + std::to_string(i);
        text += "  - targets: [" + host + ":80, '" + host + ".example.com:9100']\n";
        const bool odd = odd_ && chance(10);
        if (odd) odd_ = false;
        text += "    labels: " + one_of(odd ? odd_labels : usual_labels) + "\n";
    }
    return text;
}

std::string ScrapeConfigGenerator::file() {
    odd_ = chance(55);
    std::string text;
    if (chance(50)) {
        const std::string global = settings(global_settings, "  ", 40);
        text += "global:" + (global.empty() ? " {}\n" : "\n" + global);
    }
    text += "scrape_configs:\n";
    for (std::size_t i = 0, n = 1 + below(2); i < n; ++i) text += job(i);
    return text;
}

}  // namespace k8s_sd::test
