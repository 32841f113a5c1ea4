#include "questions.hpp"

#include "cli/cluster_options.hpp"
#include "cli/server_options.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <exception>
#include <future>
#include <iostream>
#include <utility>

namespace kubectl_sd {

namespace {

constexpr std::size_t max_running = 8;  // clusters at a time

/// Completes the options of k8s-sd in this process.
void prepare(Question& question) {
    auto& options = question.discovery;
    options.listen = "127.0.0.1:0";
    options.one_question = true;
    options.ready_with_left_out_jobs = true;
    options.log.level = k8s_sd::LogLevel::off;
    const ConfigMapKey& map = question.config_map;
    if (!map.name.empty()) {
        if (options.sim) throw cli::UsageError("--configmap: needs a cluster, not --sim");
        options.config_file = map.ns + "/" + map.name;  // replaced by its file
    }
    check(options);
}

/// Throws what is wrong with the file, once for all clusters.
void check_file(const Question& question) {
    if (!question.config_map.name.empty()) return;
    const auto& options = question.discovery;
    k8s_sd_program::check_lists_jobs(
        k8s_sd::load_scrape_configs(options.config_file, scrape_config_options(options)),
        options.config_file);
}

/// The text with the name of the ConfigMap in place of its file.
std::string with_name(std::string text, const Question& question, const ConfigMapFile* file) {
    if (!file) return text;
    const std::string path = file->path();
    const std::string name = question.config_map.ns + "/" + question.config_map.name +
                             path.substr(path.find_last_of('/'));
    for (std::size_t at = 0; (at = text.find(path, at)) != std::string::npos; at += name.size()) {
        text.replace(at, path.size(), name);
    }
    return text;
}

}  // namespace

Questions::Questions(const Question& given, const std::string& url, OnAnswer on_answer)
    : url_(url), on_answer_(std::move(on_answer)) {
    k8s_sd::Environment environment;
    environment.logger.level = k8s_sd::LogLevel::off;  // the errors are in the answers
    k8s_sd::install(io_, environment);
    check_origin(given);
    Question question = given;
    if (!question.from.empty()) {
        add(question, {});
        return;
    }
    prepare(question);
    if (question.discovery.clusters.several()) {
        add_clusters(question);
        return;
    }
    if (!question.discovery.sim) cli::usable_server(question.discovery.server);
    add(question, {});
}

void Questions::add_clusters(Question question) {
    auto& options = question.discovery;
    check_file(question);
    const cli::ClusterOptions clusters = std::exchange(options.clusters, {});
    const auto warn = [](const std::string& text) { std::cerr << "kubectl-sd: " << text << '\n'; };
    const auto on_left_out = [&](const std::string& context, const std::string& why) {
        add(question, context, why);
    };
    std::vector<k8s_sd::DiscoveryConfig> servers;
    try {
        servers = configs_of(options.server, clusters, warn, on_left_out);
    } catch (const cli::Unusable&) {
        print_errors();  // of all contexts
        throw;
    }
    for (k8s_sd::DiscoveryConfig& server : servers) {
        // Rules see the name as in a k8s-sd with all of these clusters.
        options.clusters.name = server.cluster.name;
        options.clusters.label = clusters.label;
        options.server = std::move(server);
        add(question, options.clusters.name);
    }
}

void Questions::add(const Question& question, std::string cluster, std::string error) {
    asked_.push_back({question, {}, nullptr, nullptr});
    answers_.push_back({.cluster = std::move(cluster), .error = std::move(error)});
}

bool Questions::has_config_map() const { return !asked_.front().question.config_map.name.empty(); }

/// Before the first file is written: a signal may end the process here.
void Questions::read_config_maps(std::size_t begin, std::size_t end) {
    std::vector<std::future<ConfigMapText>> texts(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        if (!answers_[i].error.empty()) continue;
        const Question& question = asked_[i].question;
        texts[i - begin] = std::async(std::launch::async, [&question] {
            return read_config_map(question.config_map, question.discovery.server,
                                   question.timeout);
        });
    }
    for (std::size_t i = begin; i < end; ++i) {
        if (!texts[i - begin].valid()) continue;
        try {
            asked_[i].text = texts[i - begin].get();
        } catch (const std::exception& e) {
            if (asked_.size() == 1) throw;
            answers_[i].error = cli::printable(k8s_sd::in_words(e), 2000);
        }
    }
}

void Questions::start(std::size_t i) {
    Asked& one = asked_[i];
    try {
        if (has_config_map()) {
            one.file = std::make_unique<ConfigMapFile>(one.text);
            one.question.discovery.config_file = one.file->path();
        }
        one.session = std::make_unique<Session>(
            io_, one.question, url_,
            [this, i](const boost::json::object& answer) {
                return on_answer_(answers_[i], answer);
            },
            [this] { on_end(); });
        ++running_;
    } catch (const k8s_sd::ConfigError& e) {
        const std::string text = with_name(e.what(), one.question, one.file.get());
        if (asked_.size() == 1) throw cli::Unusable(text);
        answers_[i].error = cli::printable(text, 2000);
    } catch (const std::exception& e) {
        if (asked_.size() == 1) throw;
        answers_[i].error = cli::printable(k8s_sd::in_words(e), 2000);
    }
}

void Questions::on_end() {
    if (--running_ != 0) return;
    boost::asio::post(io_, [this] { stop_all(); });
}

void Questions::stop_all() {
    for (Asked& one : asked_) {
        one.file.reset();
        if (one.session) one.session->stop();
    }
    signals_.cancel();
}

const std::vector<ClusterAnswer>& Questions::ask() {
    for (std::size_t i = 0; i < asked_.size(); i += max_running) {
        ask(i, std::min(i + max_running, asked_.size()));
    }
    return answers_;
}

void Questions::ask(std::size_t begin, std::size_t end) {
    if (cli::Signals::end_is_wanted()) return;
    if (has_config_map()) {
        read_config_maps(begin, end);
        // From here to the removal of the files a signal only ends the sessions.
        signals_.wait([](int) {});
    }
    for (std::size_t i = begin; i < end; ++i) {
        if (answers_[i].error.empty()) start(i);
    }
    if (running_ == 0) stop_all();
    io_.restart();
    io_.run();
    for (std::size_t i = begin; i < end; ++i) {
        if (!asked_[i].session) continue;
        answers_[i].is_answered = asked_[i].session->is_answered();
        answers_[i].error = asked_[i].session->error();
        asked_[i].session.reset();
    }
}

bool Questions::has_answers() const {
    return std::any_of(answers_.begin(), answers_.end(),
                       [](const ClusterAnswer& one) { return one.is_answered; });
}

bool Questions::is_printable(Form form) const {
    if (has_answers()) return true;
    const bool has_errors = form == Form::json || form == Form::yaml;
    return has_errors && answers_.size() > 1 &&
           std::any_of(answers_.begin(), answers_.end(),
                       [](const ClusterAnswer& one) { return !one.error.empty(); });
}

bool Questions::print_errors() const {
    bool complete = true;
    for (const ClusterAnswer& one : answers_) {
        complete = complete && one.is_answered;
        if (one.error.empty()) continue;
        const std::string cluster =
            one.cluster.empty() ? "" : cli::printable(one.cluster, 200) + ": ";
        std::cerr << "kubectl-sd: " << cluster << one.error << '\n';
    }
    return complete;
}

}  // namespace kubectl_sd
