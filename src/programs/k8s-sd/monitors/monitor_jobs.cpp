#include "monitors/monitor_jobs.hpp"

#include "table/json_writer.hpp"

#include <boost/asio/detached.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace k8s_sd_program {

namespace {

using k8s_sd::MonitorKind;
using k8s_sd::MonitorObjectStatus;
using k8s_sd::MonitorRefusal;
using k8s_sd::MonitorState;
using k8s_sd::MonitorWatchState;

std::string in_words(const MonitorRefusal& why) {
    return why.reason + (why.remedy.empty() ? "" : "; " + why.remedy);
}

std::string name_of(const MonitorObjectStatus& object) {
    return std::string(to_string(object.kind)) + " " + object.object_namespace + "/" + object.name;
}

/// "ServiceMonitor shop/cart is refused: …"
std::string in_words(const MonitorObjectStatus& object) {
    const char* const what = object.state == MonitorState::refused      ? " is refused: "
                             : object.state == MonitorState::unselected ? " is not selected: "
                             : object.state == MonitorState::waiting    ? " waits: "
                                                                        : " is accepted";
    return name_of(object) + what +
           (object.state == MonitorState::accepted ? "" : in_words(object.why));
}

/// "serviceMonitor/shop/cart/0": kind, namespace and name.
struct NamedMonitor {
    MonitorKind kind;
    std::string_view ns, name;
};

std::optional<NamedMonitor> monitor_of(std::string_view job, const k8s_sd::MonitorStatus& status) {
    for (const MonitorKind kind : kinds_of(status)) {
        const std::string_view prefix = job_prefix_of(kind);
        if (!job.starts_with(prefix)) continue;
        std::string_view rest = job.substr(prefix.size());
        const std::size_t slash = rest.find('/');
        if (slash == rest.npos) return std::nullopt;
        const std::string_view name = rest.substr(slash + 1);
        return NamedMonitor{kind, rest.substr(0, slash), name.substr(0, name.find('/'))};
    }
    return std::nullopt;
}

/// The first refused or waiting monitors, one a line. Reads no more pages than they need.
std::string faults_in_words(const k8s_sd::MonitorSource& source, std::size_t count) {
    constexpr std::size_t page_size = 256;
    std::string text;
    std::optional<k8s_sd::MonitorName> after;
    while (count > 0) {
        const std::vector<MonitorObjectStatus> page = source.objects(after, page_size);
        for (const MonitorObjectStatus& object : page) {
            const bool is_fault =
                object.state == MonitorState::refused || object.state == MonitorState::waiting;
            if (!is_fault || count == 0) continue;
            text += in_words(object) + "\n";
            --count;
        }
        if (page.size() < page_size) return text;
        after = {page.back().kind, page.back().object_namespace, page.back().name};
    }
    return text;
}

void write(JsonWriter& json, const MonitorRefusal& why) {
    json.member("reason", why.reason).member("remedy", why.remedy);
}

}  // namespace

MonitorJobs::MonitorJobs(boost::asio::any_io_executor strand, const MonitorsOptions& options)
    : strand_(std::move(strand)) {
    if (!options.enabled) return;
    bool wanted = true;
    k8s_sd::MonitorSourceConfig config = monitors_config(options, wanted);
    if (wanted) config_ = std::move(config);
}

void MonitorJobs::start(const k8s_sd::DiscoveryConfig& server,
                        std::function<void(const k8s_sd::MonitorDiff&)> on_change) {
    if (!config_) return;
    config_->api_server = server.api_server;
    config_->kubeconfig_file = server.kubeconfig_file;
    config_->kubeconfig_context = server.kubeconfig_context;
    config_->cluster = server.cluster;
    source_.emplace(strand_, *config_,
                    [this, on_change = std::move(on_change)](const k8s_sd::MonitorDiff& diff) {
                        take(diff);
                        on_change(diff);
                    });
    source_->async_run(boost::asio::detached);
}

void MonitorJobs::take(const k8s_sd::MonitorDiff& diff) {
    known_ = true;
    for (const k8s_sd::MonitorJobPtr& job : diff.updated) jobs_[job->origin] = job;
    for (const std::string& name : diff.removed) jobs_.erase(name);
}

void MonitorJobs::stop() {
    if (source_) source_->cancel();
}

bool MonitorJobs::known() const { return !config_ || known_; }

std::string MonitorJobs::why_unknown() const {
    std::string text = "the monitors of the cluster are not known yet";
    if (!source_) return text;
    const k8s_sd::MonitorStatus status = source_->status();
    if (!status.owner.reason.empty()) text += "; their owner: " + in_words(status.owner);
    if (!status.owner_watch.empty()) text += "; " + status.owner_watch;
    for (const k8s_sd::MonitorKindStatus& kind : status.kinds) {
        if (!kind.message.empty()) text += "; " + kind.message;
    }
    return text;
}

std::vector<k8s_sd::MonitorJobPtr> MonitorJobs::jobs() const {
    std::vector<k8s_sd::MonitorJobPtr> jobs;
    for (const auto& [name, job] : jobs_) jobs.push_back(job);
    return jobs;
}

std::string MonitorJobs::trouble() const {
    if (!source_) return {};
    constexpr std::size_t max_lines = 50;
    const k8s_sd::MonitorStatus status = source_->status();
    std::string text;
    if (!status.owner.reason.empty()) {
        text += "the owner of the monitors is not used: " + in_words(status.owner) + "\n";
    }
    if (!status.owner_watch.empty()) text += status.owner_watch + "\n";
    if (!status.additional.reason.empty()) {
        text += "additionalScrapeConfigs are not used: " + in_words(status.additional) + "\n";
    }
    if (!status.namespaces.empty()) text += status.namespaces + "\n";
    for (const MonitorKind kind : kinds_of(status)) {
        const auto& of_kind = status.kinds[static_cast<std::size_t>(kind)];
        if (of_kind.message.empty()) continue;
        text += std::string(to_string(kind)) + "s: " + of_kind.message + "\n";
    }
    std::size_t faults = 0;
    for (const k8s_sd::MonitorKindStatus& kind : status.kinds)
        faults += kind.refused + kind.waiting;
    text += faults_in_words(*source_, std::min(faults, max_lines));
    if (faults > max_lines) {
        text += std::to_string(faults - max_lines) +
                " more monitors are refused; /api/ui/monitors has all\n";
    }
    return text;
}

std::optional<std::string> MonitorJobs::why_missing(std::string_view job) const {
    if (!source_) return std::nullopt;
    const k8s_sd::MonitorStatus status = source_->status();
    const auto monitor = monitor_of(job, status);
    if (!monitor) return std::nullopt;
    const auto object = source_->object(monitor->kind, monitor->ns, monitor->name);
    if (object && object->state != MonitorState::accepted) return in_words(*object);
    const std::string name = std::string(to_string(monitor->kind)) + " " +
                             std::string(monitor->ns) + "/" + std::string(monitor->name);
    if (object) return name + " has no such endpoint";
    const auto& kind = status.kinds[static_cast<std::size_t>(monitor->kind)];
    if (!kind.message.empty()) return name + " is not known: " + kind.message;
    if (kind.watch == MonitorWatchState::off) {
        return name + " is not watched: the owner selects no " +
               std::string(to_string(monitor->kind));
    }
    return "the cluster has no " + name;
}

std::string MonitorJobs::metrics() const {
    return source_ ? to_prometheus_text(source_->status()) : "";
}

std::string MonitorJobs::json(const MonitorPage& page) const {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("enabled", source_.has_value());
    if (!source_) {
        json.end('}');
        return text;
    }
    const k8s_sd::MonitorStatus status = source_->status();
    json.member("synced", status.synced).member("jobs", status.jobs);
    json.name("owner").begin('{').member("known", status.has_owner);
    write(json, status.owner);
    json.end('}').name("kinds").begin('[');
    for (const MonitorKind kind : kinds_of(status)) {
        const auto& of_kind = status.kinds[static_cast<std::size_t>(kind)];
        json.begin('{').member("kind", to_string(kind)).member("watch", to_string(of_kind.watch));
        json.member("message", of_kind.message).member("objects", of_kind.objects);
        json.member("accepted", of_kind.accepted).member("refused", of_kind.refused);
        json.member("unselected", of_kind.unselected).member("waiting", of_kind.waiting);
        json.end('}');
    }
    // One more, to know whether there are more.
    std::vector<MonitorObjectStatus> monitors = source_->objects(page.after, page.limit + 1);
    const bool has_more = monitors.size() > page.limit;
    if (has_more) monitors.pop_back();
    json.end(']').name("monitors").begin('[');
    for (const MonitorObjectStatus& object : monitors) {
        json.begin('{').member("kind", to_string(object.kind));
        json.member("namespace", object.object_namespace).member("name", object.name);
        json.member("state", to_string(object.state)).member("jobs", object.jobs);
        write(json, object.why);
        json.end('}');
    }
    json.end(']');
    if (has_more) {
        const MonitorObjectStatus& last = monitors.back();
        json.member("next", std::string(to_string(last.kind)) + "/" + last.object_namespace + "/" +
                                last.name);
    }
    json.end('}');
    return text;
}

}  // namespace k8s_sd_program
