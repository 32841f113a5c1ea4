#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/client/status_error.hpp"
#include "k8s_sd/detail/hosts/resource_search.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration first_pause = std::chrono::seconds(1);
constexpr Duration max_search_pause = std::chrono::minutes(1);
constexpr Duration max_search_wait = std::chrono::seconds(10);
/// Some groups have hundreds of resources.
constexpr std::size_t max_document_bytes = std::size_t{4} << 20U;
/// Real groups have a few.
constexpr std::size_t max_versions = 16;

std::string group_path(const std::string& group) {
    return group.empty() ? "/api" : "/apis/" + group;
}

std::string group_text(const std::string& group) {
    return group.empty() ? "the core API" : "the API group " + in_quotes(group);
}

}  // namespace

ResourceSearch::ResourceSearch(std::shared_ptr<ApiClient> client, ResourceName name)
    : client_(std::move(client)),
      name_(std::move(name)),
      get_(std::make_shared<ShortRequest>(impl_of(*client_))),
      timer_(impl_of(*client_).environment.clock->make_timer(impl_of(*client_).executor)) {
    status_.kind = other_kind(
        {name_.kind, name_.group, name_.version, name_.plural, name_.namespaced.value_or(true)});
}

void ResourceSearch::start(Handler found, std::function<void()> failed, Duration wait) {
    found_ = std::move(found);
    failed_ = std::move(failed);
    // Backoff draws from once to twice the pause: clients waiting for one resource spread out.
    const Duration first = std::clamp(wait, first_pause, max_search_pause);
    backoff_.emplace(first / 2, max_search_pause / 2, impl_of(*client_).next_seed());
    wait == Duration() ? ask() : ask_later(backoff_->next());
}

void ResourceSearch::cancel() noexcept {
    get_->cancel();
    timer_->cancel();
    found_ = nullptr;
    failed_ = nullptr;
}

WatchStatus ResourceSearch::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

void ResourceSearch::ask() {
    set_waiting(Waiting::list);
    is_unwatched_ = false;
    versions_.clear();
    if (!name_.version.empty() || name_.group.empty()) {
        versions_.push_back(name_.version.empty() ? "v1" : name_.version);
        return ask_version(0);
    }
    get(group_path(name_.group), &ResourceSearch::on_group);
}

void ResourceSearch::get(const std::string& path,
                         void (ResourceSearch::*then)(const ShortRequest::Answer&)) {
    get_->start(path, max_document_bytes, max_search_wait,
                [weak = weak_from_this(), then](const ShortRequest::Answer& answer) {
                    if (const auto self = weak.lock()) ((*self).*then)(answer);
                });
}

void ResourceSearch::on_group(const ShortRequest::Answer& answer) {
    if (!answer.ec && answer.head.status == 404) return fail_to_find();
    if (answer.ec || answer.head.status != 200) return fail(answer);
    if (!is_usable(answer, "APIGroup", group_path(name_.group))) return;
    versions_ = read_group_versions(answer.body);
    if (versions_.size() > max_versions) versions_.resize(max_versions);
    ask_version(0);
}

void ResourceSearch::ask_version(std::size_t index) {
    version_ = index;
    if (index == versions_.size()) return fail_to_find();
    get(group_path(name_.group) + "/" + versions_[index], &ResourceSearch::on_version);
}

void ResourceSearch::on_version(const ShortRequest::Answer& answer) {
    if (!answer.ec && answer.head.status == 404) return ask_version(version_ + 1);
    if (answer.ec || answer.head.status != 200) return fail(answer);
    find_in(answer);
}

void ResourceSearch::find_in(const ShortRequest::Answer& answer) {
    const std::string path = group_path(name_.group) + "/" + versions_[version_];
    if (!is_usable(answer, "APIResourceList", path)) return;
    const auto found = find_listed_resource(answer.body, name_.kind, name_.plural);
    if (!found || !found->watched) {
        is_unwatched_ = is_unwatched_ || found;
        return ask_version(version_ + 1);
    }
    Kind kind{};
    try {
        kind = other_kind({name_.kind, name_.group, versions_[version_], found->plural,
                           name_.namespaced.value_or(found->namespaced)});
    } catch (const std::length_error& error) {  // the server returned too many different names
        return fail(errc::malformed_response, error.what());
    }
    failed_ = nullptr;
    std::exchange(found_, nullptr)(kind);
}

// --- failures ------------------------------------------------------------------------------------

/// A response with status 200 may be the page of a proxy. Reports an unusable response.
bool ResourceSearch::is_usable(const ShortRequest::Answer& answer, std::string_view kind,
                               const std::string& path) {
    if (answer.cut) {
        fail(errc::malformed_response,
             group_text(name_.group) +
                 " has too many resources: its document is longer than 4 MiB; set version, plural "
                 "and namespaced in WatcherConfig::resource");
        return false;
    }
    if (is_document_of(answer.body, kind)) return true;
    fail(errc::malformed_response, "GET " + path + " did not answer with an " + std::string(kind) +
                                       "; is a proxy or a login in between?");
    return false;
}

void ResourceSearch::fail(const ShortRequest::Answer& answer) {
    if (answer.ec) {
        return fail(answer.ec, "asking what the server calls " + in_quotes(name_.kind) + ": " +
                                   (answer.problem.empty() ? answer.ec.message() : answer.problem));
    }
    const unsigned status = answer.head.status;
    std::string problem = "asking what the server calls " + in_quotes(name_.kind) + ": HTTP " +
                          std::to_string(status);
    const std::string message = read_status_message(answer.body);
    if (!message.empty()) problem += ": " + message;
    if (status == 403) {
        problem += "; grant the ClusterRole system:discovery, or set version, plural and "
                   "namespaced in WatcherConfig::resource";
    }
    fail(error_of_status(status), std::move(problem));
}

void ResourceSearch::fail_to_find() {
    const std::string version =
        name_.version.empty() ? std::string() : " in the version " + name_.version;
    const std::string what =
        in_quotes(name_.kind) +
        (name_.plural.empty() ? std::string() : " with the name " + in_quotes(name_.plural));
    if (is_unwatched_)
        return fail(errc::not_found, group_text(name_.group) + " has " + what + version +
                                         ", which cannot be listed and watched");
    fail(errc::not_found, group_text(name_.group) + " has no " + what + version +
                              "; is its CustomResourceDefinition there, and the name right?");
}

void ResourceSearch::fail(error_code ec, std::string problem) {
    ApiClientImpl& api = impl_of(*client_);
    problem = api.redact(std::move(problem));
    const TimePoint now = api.environment.clock->now();
    const Duration pause = backoff_->next();
    bool is_new = false;
    {
        const std::lock_guard lock(mutex_);
        is_new = status_.message != problem;
        if (status_.error != ec) status_.since = now;
        status_.error = ec;
        status_.message = problem;
        ++status_.failures;
    }
    if (is_new) {
        api.environment.logger.log(
            {LogLevel::warning, LogEvent::resource_search_failed, problem, status_.kind, {}, ec});
    }
    ask_later(pause);
    failed_();
}

void ResourceSearch::ask_later(Duration pause) {
    set_waiting(Waiting::backoff, pause);
    timer_->expires_at(impl_of(*client_).environment.clock->now() + pause,
                       if_alive(weak_from_this(), &ResourceSearch::ask));
}

void ResourceSearch::set_waiting(Waiting waiting, std::optional<Duration> pause) {
    const std::lock_guard lock(mutex_);
    status_.waiting = waiting;
    status_.waiting_since = impl_of(*client_).environment.clock->now();
    status_.pause = pause;
}

}  // namespace k8s_sd::inline v0::detail
