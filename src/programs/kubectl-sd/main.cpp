// A plugin of kubectl: why an object is a target or not. See docs/programs/kubectl-sd.md.

#include "answer.hpp"
#include "cli/server_options.hpp"
#include "cli/terminal_text.hpp"
#include "config_map.hpp"
#include "follow/list_client.hpp"
#include "follow/list_source.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/version.hpp"
#include "plugin_options.hpp"
#include "program.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/json/parse.hpp>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace kubectl_sd;
using support::HttpServer;
namespace json = boost::json;

/// The credentials for a running k8s-sd.
k8s_sd_program::ListClientOptions client_options(const k8s_sd::ApiServerConfig& server) {
    return {.ca_file = server.tls.ca_file,
            .cert_file = server.tls.cert_file,
            .key_file = server.tls.key_file,
            .token_file = server.auth.bearer_token_file};
}

/// Asks k8s-sd once all lists are complete: a running one, or one in this process. One thread.
class Session {
 public:
    /// \return the status of the program, or nullopt after next()
    using OnAnswer = std::function<std::optional<support::ExitStatus>(const json::object&)>;

    explicit Session(const Question& question)
        : from_(question.from),
          client_options_(client_options(question.discovery.server.api_server)),
          timer_(io_),
          timeout_(question.timeout) {
        if (from_.empty()) program_.emplace(io_, question.discovery);
    }

    /// Asks another question after this answer.
    void next(const std::string& url) {
        url_ = url;
        wait();
    }
    /// \param url  what to ask, such as "/api/ui/object?q=web"
    support::ExitStatus run(const std::string& url, OnAnswer on_answer) {
        on_answer_ = std::move(on_answer);
        url_ = url;
        end_ = std::chrono::steady_clock::now() + timeout_;
        wait();
        io_.run();
        return status_;
    }

 private:
    void wait() {
        timer_.expires_after(std::chrono::milliseconds(20));
        timer_.async_wait([this](boost::system::error_code ec) {
            if (ec) return;
            if (!program_) {
                return ask(url_, [this](const HttpServer::Reply& answer) { on_reply(answer); });
            }
            if (program_->is_ended()) return;  // by a signal
            if (!program_->is_configured()) {
                if (std::chrono::steady_clock::now() < end_) return wait();
                return stop(support::exit_failed);
            }
            ask("/readyz", [this](const HttpServer::Reply& reply) { on_ready(reply); });
        });
    }
    void on_ready(const HttpServer::Reply& reply) {
        if (reply.status == 200) {
            return ask(url_, [this](const HttpServer::Reply& answer) { on_reply(answer); });
        }
        if (std::chrono::steady_clock::now() < end_) return wait();
        std::cerr << "kubectl-sd: not everything has been listed in time:\n";
        // The texts of servers are in it.
        std::istringstream lines(reply.body ? *reply.body : std::string());
        for (std::string line; std::getline(lines, line);) {
            std::cerr << support::printable(line, 2000) << '\n';
        }
        stop(support::exit_failed);
    }
    void on_reply(const HttpServer::Reply& reply) {
        boost::system::error_code invalid;
        const json::value parsed =
            json::parse(reply.body ? *reply.body : std::string("{}"), invalid);
        if (reply.status != 200 || !parsed.is_object()) {
            return fail(error_in(parsed).value_or(from_ + " is no k8s-sd: it answers with status " +
                                                  std::to_string(reply.status)));
        }
        const json::object& answer = parsed.as_object();
        const json::value* flag = answer.if_contains("complete");
        const bool complete = flag && *flag == true;
        // Tables of targets are made after the first question.
        if (!complete && std::chrono::steady_clock::now() < end_) return wait();
        if (const auto status = on_answer_(answer)) stop(*status);
    }
    static std::optional<std::string> error_in(const json::value& answer) {
        const json::object* object = answer.if_object();
        const json::value* error = object ? object->if_contains("error") : nullptr;
        const json::string* text = error ? error->if_string() : nullptr;
        if (!text) return std::nullopt;
        return std::string(std::string_view(*text));
    }
    void fail(const std::string& text) {
        std::cerr << "kubectl-sd: " << support::printable(text, 2000) << '\n';
        stop(support::exit_failed);
    }
    /// Asks the running k8s-sd.
    void ask_there(const std::string& url, HttpServer::Respond respond) {
        const std::string_view base =
            std::string_view(from_).substr(0, from_.find_last_not_of('/') + 1);
        const auto source = k8s_sd_program::read_list_source("answer=" + std::string(base) + url);
        client_.emplace(io_.get_executor(), source, client_options_);
        boost::asio::co_spawn(
            io_, client_->get(no_tag_, reply_),
            [this, respond = std::move(respond)](const std::exception_ptr& problem) {
                if (!problem) {
                    return respond({.status = reply_.status,
                                    .body = std::make_shared<std::string>(reply_.body)});
                }
                try {
                    std::rethrow_exception(problem);
                } catch (const std::exception& e) {
                    fail(from_ + ": " + k8s_sd::in_words(e));
                }
            });
    }
    void ask(const std::string& url, HttpServer::Respond respond) {
        if (!program_) return ask_there(url, std::move(respond));
        const std::size_t end = std::min(url.find('?'), url.size());
        const HttpServer::Client client{.address = "127.0.0.1"};
        const boost::beast::http::fields headers;
        const std::string_view all = url;
        program_->routes()({"GET",
                            all.substr(0, end),
                            end < url.size() ? all.substr(end + 1) : std::string_view(),
                            {},
                            client,
                            headers},
                           respond);
    }
    void stop(support::ExitStatus status) {
        status_ = status;
        timer_.cancel();
        if (program_) program_->stop("answered");
    }

    boost::asio::io_context io_{1};
    const std::string from_;  ///< URL of the running k8s-sd; empty: one in this process
    const k8s_sd_program::ListClientOptions client_options_;
    std::optional<k8s_sd_program::Program> program_;
    std::optional<k8s_sd_program::ListClient> client_;
    const std::string no_tag_;
    k8s_sd_program::ListReply reply_;
    boost::asio::steady_timer timer_;
    const std::chrono::nanoseconds timeout_;
    std::chrono::steady_clock::time_point end_;
    std::string url_;
    OnAnswer on_answer_;
    support::ExitStatus status_ = support::exit_failed;
};

std::string encoded(const std::string& text) {
    constexpr const char* digits = "0123456789ABCDEF";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        if (plain) {
            result += c;
        } else {
            result += {'%', digits[byte / 16], digits[byte % 16]};
        }
    }
    return result;
}

/// Completes the options of k8s-sd in this process. \return the file of a ConfigMap, or null
std::unique_ptr<ConfigMapFile> find_jobs(Question& question) {
    check_origin(question);
    if (!question.from.empty()) return nullptr;
    auto& options = question.discovery;
    options.listen = "127.0.0.1:0";
    options.one_question = true;
    options.ready_with_left_out_jobs = true;
    options.log.level = k8s_sd::LogLevel::off;
    std::unique_ptr<ConfigMapFile> file;
    if (!question.config_map.name.empty()) {
        if (options.sim) throw support::UsageError("--configmap: needs a cluster, not --sim");
        file =
            std::make_unique<ConfigMapFile>(question.config_map, options.server, question.timeout);
        options.config_file = file->path();
    }
    check(options);
    if (!options.sim) support::usable_server(options.server);
    return file;
}

support::ExitStatus why(Question question) {
    const std::string object = object_name(question);
    const std::unique_ptr<ConfigMapFile> file = find_jobs(question);
    const auto show = [&](const json::object& answer) {
        std::cout << why_text(answer, question.form) << std::flush;
        if (answer.at("found") == true) return support::exit_fine;
        std::cerr << "kubectl-sd: no job discovers " << object << '\n';
        return support::exit_failed;
    };
    return Session(question).run("/api/ui/object?q=" + encoded(object), show);
}

support::ExitStatus targets(Question question) {
    const std::unique_ptr<ConfigMapFile> file = find_jobs(question);
    std::string url = "/api/ui/targets?limit=1000";
    for (const std::string& job : question.words) url += "&job=" + encoded(job);
    if (!question.ns.empty()) url += "&namespace=" + encoded(question.ns);
    Session session(question);
    json::array rows;
    const auto collect = [&](const json::object& answer) -> std::optional<support::ExitStatus> {
        const json::array& page = answer.at("rows").as_array();
        rows.insert(rows.end(), page.begin(), page.end());
        const json::value* next = answer.if_contains("next");
        const json::string* after = next ? next->if_string() : nullptr;
        if (after && !after->empty() && !page.empty()) {
            session.next(url + "&after=" + encoded(std::string(*after)));
            return std::nullopt;
        }
        std::cout << targets_text(rows, question.form) << std::flush;
        return support::exit_fine;
    };
    return session.run(url, collect);
}

/// Replaces this process by the program discover, which is beside it or in $PATH.
int run_discover(const std::string& option, const std::vector<std::string>& arguments) {
    std::error_code ignored;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", ignored);
    // Packages have it by the longer name where another program is called discover.
    std::filesystem::path beside = own.parent_path() / "k8s-sd-discover";
    if (!std::filesystem::exists(beside, ignored)) beside = own.parent_path() / "discover";
    const std::string program =
        std::filesystem::exists(beside, ignored) ? beside.string() : std::string("discover");
    std::vector<std::string> words{"discover", option};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(program.c_str(), pointers.data());
    std::cerr << "kubectl-sd: " << program << " cannot be run: " << std::strerror(errno)
              << "; it is installed with kubectl-sd\n";
    return support::exit_failed;
}

constexpr const char* help =
    "Usage: kubectl sd COMMAND [OPTION]...\n\n"
    "Answers questions about service discovery.\n\n"
    "  why OBJECT     whether an object is a target of each job, or which rule drops it\n"
    "  targets        the targets of a configuration\n"
    "  check          try every step of a discovery: connection, credentials, permissions\n"
    "  rbac           print the permissions of a discovery as a manifest\n\n"
    "kubectl sd COMMAND --help lists the options of a command.\n";

int ask(const support::CommandLine& command, const std::vector<std::string>& arguments,
        const std::function<support::ExitStatus()>& body) {
    std::vector<std::string> words{"kubectl-sd"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return support::run_program(command, static_cast<int>(pointers.size()), pointers.data(), body);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    const std::vector<std::string> rest(argv + std::min(argc, 2), argv + argc);
    const std::vector<std::string> arguments = long_options(rest);
    Question question;
    if (command == "why") {
        return ask(why_command(question), arguments, [&] { return why(question); });
    }
    if (command == "targets") {
        return ask(targets_command(question), arguments, [&] { return targets(question); });
    }
    if (command == "check") return run_discover("--check", arguments);
    if (command == "rbac") return run_discover("--print-rbac", arguments);
    if (command == "--help" || command == "help") {
        std::cout << help;
        return support::exit_fine;
    }
    if (command == "--version") {
        std::cout << "kubectl-sd (k8s_sd) " K8S_SD_VERSION << std::endl;
        return support::exit_fine;
    }
    std::cerr << "kubectl-sd: "
              << (command.empty() ? std::string("needs a command") : "unknown command " + command)
              << "\n\n"
              << help;
    return support::exit_unusable;
}
