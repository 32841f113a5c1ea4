#include "k8s_sd/detail/async/child_process.hpp"
#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_exec_output = std::size_t{1} << 20;
/// Additional time for the runner to kill the program and report it.
constexpr Duration exec_grace = std::chrono::seconds(5);
/// Shorter values are names and numbers, essential for readable messages.
constexpr std::size_t min_exec_secret_size = 6;

std::shared_ptr<const ProgramRunner::Result> cleansed_result(ProgramRunner::Result result) {
    return {new ProgramRunner::Result(std::move(result)), [](ProgramRunner::Result* last) {
                cleanse(last->output.data(), last->output.size());
                cleanse(last->errors.data(), last->errors.size());
                delete last;
            }};
}

void add_exec_secret(std::vector<CleansedBytes>& secrets, std::string_view value) {
    if (value.size() >= min_exec_secret_size) append(secrets.emplace_back(), value);
}

/// The value of an option, such as x in "--password=x"; option names are no secrets.
std::string_view value_of_argument(std::string_view argument) {
    if (!argument.starts_with('-')) return argument;
    return argument.substr(std::min(argument.find('='), argument.size() - 1) + 1);
}

}  // namespace

ExecIssuer::ExecIssuer(ApiServerConfig server, asio::any_io_executor strand,
                       const Environment& environment)
    : server_(std::move(server)),
      strand_(std::move(strand)),
      clock_(environment.clock),
      programs_(environment.programs),
      reader_(strand_, clock_, environment.file_calls),
      timer_(clock_->make_timer(strand_)) {}

ExecIssuer::~ExecIssuer() { give_up(); }

void ExecIssuer::async_issue(bool, Handler handler) {
    handler_ = std::move(handler);
    if (config().interactive_mode == ExecConfig::InteractiveMode::always) {
        return fail(
            "it prompts the user at a terminal (interactiveMode Always), and there is none; "
            "use another kind of credentials");
    }
    if (!config().provide_cluster_info || server_.tls.ca_file.empty()) return run(server_.tls.ca);
    reader_.async_read(server_.tls.ca_file,
                       [this](const FileContent& content) { on_authority(content); });
}

void ExecIssuer::on_authority(const FileContent& content) {
    if (content.problem.empty()) return run(std::string(view(content.bytes)));
    fail("ca_file " + server_.tls.ca_file + ", which the program receives: " + content.problem);
}

void ExecIssuer::run(const std::string& ca) {
    // Other processes of the same user can read a process's environment.
    const std::string& written = config().cluster_server;
    const ExecCluster cluster{written.empty() ? server_.url : written,
                              server_.tls.server_name,
                              server_.tls.insecure_skip_verify,
                              ca,
                              without_user_info(server_.proxy.url),
                              server_.disable_compression,
                              config().cluster_extension};
    ProgramRunner::Program program;
    program.command = config().command;
    program.args = config().args;
    for (const ExecConfig::Variable& variable : config().env) {
        program.variables.emplace_back(variable.name, variable.value);
    }
    program.variables.emplace_back(
        "KUBERNETES_EXEC_INFO",
        make_exec_info(config().api_version, config().provide_cluster_info ? &cluster : nullptr));
    program.timeout = config().timeout;
    program.max_output = max_exec_output;
    using Answer = std::shared_ptr<const ProgramRunner::Result>;
    const Duration max_time = max_program_queue_time + config().timeout + exec_grace;
    timer_->expires_at(clock_->now() + max_time, [this, max_time] {
        give_up();
        fail("the program has not ended in " + seconds_text(max_time) +
             "; it cannot be killed, or too many other programs run");
    });
    pending_answer_ = LateAnswers::async_ask<Answer>(
        strand_, nullptr,
        [&](const std::function<void(Answer)>& complete) {
            running_ =
                programs_->async_run(std::move(program), [complete](ProgramRunner::Result result) {
                    complete(cleansed_result(std::move(result)));
                });
        },
        [](const std::string& problem) {
            ProgramRunner::Result none;
            none.end = ProgramRunner::Result::End::not_started;
            none.detail = problem;
            return cleansed_result(std::move(none));
        },
        [this](const Answer& result) { on_result(*result); });
}

void ExecIssuer::give_up() noexcept {
    pending_answer_.cancel();
    timer_->cancel();
    running_.reset();
}

void ExecIssuer::on_result(const ProgramRunner::Result& result) {
    give_up();
    std::string problem = problem_of(result);
    if (!problem.empty()) return fail(problem);
    IssuedCredentials issued = read_exec_credential(result.output, config().api_version);
    if (!issued.problem.empty()) return fail(issued.problem);
    printed_.clear();
    if (!issued.token.empty()) printed_.push_back(issued.token);
    if (issued.identity) printed_.push_back(issued.identity->key);
    finish(std::move(issued));
}

std::string ExecIssuer::problem_of(const ProgramRunner::Result& result) const {
    using enum ProgramRunner::Result::End;
    const std::string hint =
        config().install_hint.empty() ? "" : "; " + printable(config().install_hint);
    std::string problem;
    switch (result.end) {
        case exited:
            if (result.code == 0) return {};
            problem = "it ended with exit status " + std::to_string(result.code);
            break;
        case killed: problem = "it was killed by signal " + std::to_string(result.code); break;
        case timed_out:
            problem = "it did not end in " + seconds_text(config().timeout) +
                      "; it may wait for input at a terminal: run it by hand";
            break;
        case too_much_output: return "it printed more than 1 MiB";
        case not_found: return "there is no such program: " + printable(result.detail) + hint;
        case not_allowed:
            return "it is not executable (" + printable(result.detail) +
                   "); chmod +x may be missing";
        case not_started: return "it could not be started: " + printable(result.detail);
    }
    const std::string_view errors = trim(result.errors);
    if (errors.empty()) return problem;
    std::vector<CleansedBytes> secrets = printed_;
    for (const ExecConfig::Variable& variable : config().env) {
        add_exec_secret(secrets, variable.value);
    }
    for (const std::string& argument : config().args) {
        add_exec_secret(secrets, value_of_argument(argument));
    }
    return problem + ": " + printable(redact_tokens(detail::redact(std::string(errors), secrets)));
}

void ExecIssuer::finish(IssuedCredentials issued) {
    std::exchange(handler_, nullptr)(std::move(issued));
}

void ExecIssuer::fail(const std::string& problem) {
    IssuedCredentials none;
    none.problem = "exec " + printable(config().command) + ": " + problem;
    finish(std::move(none));
}

}  // namespace k8s_sd::inline v0::detail
