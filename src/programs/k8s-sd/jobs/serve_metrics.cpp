#include "jobs/serve_metrics.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string_view>

namespace k8s_sd_program {

namespace {

/// Escapes and quotes a label value for the text format.
std::string label_value(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
        if (c == '\\' || c == '"') text += '\\';
        if (c == '\n') {
            text += "\\n";
        } else {
            text += c;
        }
    }
    return text + '"';
}

class Writer {
 public:
    explicit Writer(std::string_view prefix = "k8s_sd_program_") : prefix_(prefix) {}

    void metric(std::string_view name, std::string_view type, std::string_view help) {
        (name_ = prefix_).append(name);
        (text_ += "# HELP ").append(name_).append(" ").append(help).append("\n");
        (text_ += "# TYPE ").append(name_).append(" ").append(type).append("\n");
    }
    void value(std::uint64_t value, const std::string& labels = {}) {
        text_ +=
            name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + std::to_string(value) + "\n";
    }
    void seconds(double value) {
        std::ostringstream number;
        number << value;
        text_ += name_ + " " + number.str() + "\n";
    }
    std::string text() && { return std::move(text_); }

 private:
    const std::string_view prefix_;
    std::string name_;
    std::string text_;
};

void write_polls(Writer& out, const ServeMetrics& metrics) {
    out.metric("polls_total", "counter", "Responses to requests for lists.");
    for (std::size_t form = 0; form < list_form_count; ++form) {
        for (std::size_t code = 0; code < ServeMetrics::codes.size(); ++code) {
            out.value(metrics.polls[form][code],
                      "list=" + label_value(to_string(static_cast<ListForm>(form))) + ",code=\"" +
                          std::to_string(ServeMetrics::codes[code]) + "\"");
        }
    }
    out.metric("unknown_jobs_total", "counter", "Requests for lists of unknown jobs.");
    out.value(metrics.unknown_jobs);
    out.metric("sent_bytes_total", "counter", "Sent bytes of lists.");
    out.value(metrics.sent_bytes);
}

void write_lists(Writer& out, const ListMetrics& lists) {
    out.metric("serialised_targets_total", "counter", "Targets serialised as JSON.");
    out.value(lists.serialised);
    out.metric("left_out_labels_total", "counter",
               "Labels left out of lists because their names are not legacy names.");
    out.value(lists.left_out_labels);
    out.metric("list_bodies_total", "counter", "Bodies of lists composed after a change.");
    out.value(lists.bodies);
    out.metric("list_body_bytes_total", "counter", "Bytes of these bodies.");
    out.value(lists.body_bytes);
    out.metric("held_list_bytes", "gauge",
               "Bytes of lists in memory, including those still being sent to readers.");
    out.value(*lists.held);
    out.metric("list_body_seconds_total", "counter", "Time spent composing bodies of lists.");
    out.seconds(static_cast<double>(lists.body_nanoseconds) / 1e9);
}

void write_consumers(Writer& out, const Consumers& consumers) {
    const auto recently = std::chrono::system_clock::now() - std::chrono::minutes(5);
    out.metric("consumers", "gauge", "Readers with a request for a list in the last five minutes.");
    out.value(consumers.seen_since(recently));
    out.metric("consumers_dropped_total", "counter",
               "Readers dropped from the table to make room for others.");
    out.value(consumers.dropped());
}

void write_watches(Writer& out, const ServeMetrics& metrics) {
    out.metric("watch_readers", "gauge", "Readers of streams.");
    out.value(metrics.watch_readers);
    out.metric("watches_total", "counter", "Responses to requests for streams.");
    for (std::size_t i = 0; i < ServeMetrics::codes.size(); ++i) {
        const unsigned code = ServeMetrics::codes[i];
        if (code != 304) out.value(metrics.watches[i], "code=\"" + std::to_string(code) + "\"");
    }
    out.metric("watch_events_total", "counter", "Events sent to readers of streams.");
    out.value(metrics.watch_fulls, "type=\"full\"");
    out.value(metrics.watch_diffs, "type=\"diff\"");
}

void write_files(Writer& out, const FileMetrics& files) {
    out.metric("file_writes_total", "counter", "Replaced files of lists.");
    out.value(files.writes);
    out.metric("file_errors_total", "counter", "Files of lists not replaced because of an error.");
    out.value(files.errors);
}

void write_oldest(Writer& out, std::string_view name, std::string_view help,
                  const std::map<std::string, JobMetrics>& jobs, double JobMetrics::*age) {
    double oldest = 0;
    for (const auto& [job, metrics] : jobs) oldest = std::max(oldest, metrics.*age);
    out.metric(name, "gauge", help);
    out.seconds(oldest);
}

void write_jobs(Writer& out, const std::map<std::string, JobMetrics>& jobs) {
    out.metric("targets", "gauge", "Targets of a job, by their state.");
    for (const auto& [name, job] : jobs) {
        const std::string label = "job=" + label_value(name) + ",state=";
        out.value(job.targets.discovered, label + "\"discovered\"");
        out.value(job.targets.active, label + "\"active\"");
        out.value(job.targets.dropped, label + "\"dropped\"");
        out.value(job.targets.failed, label + "\"failed\"");
    }
    out.metric("job_complete", "gauge", "Whether lists of the job are served.");
    for (const auto& [name, job] : jobs)
        out.value(job.complete ? 1 : 0, "job=" + label_value(name));
    std::size_t without_targets = 0;
    for (const auto& [name, job] : jobs) without_targets += job.without_targets();
    out.metric("jobs_without_targets", "gauge", "Jobs with complete lists and no target.");
    out.value(without_targets);
    out.metric("job_unconfirmed", "gauge", "Whether the job has targets from before a restart.");
    for (const auto& [name, job] : jobs)
        out.value(job.unconfirmed ? 1 : 0, "job=" + label_value(name));
    write_oldest(out, "oldest_incomplete_job_seconds", "Age of the oldest incomplete job.", jobs,
                 &JobMetrics::incomplete_seconds);
    out.metric("job_synced", "gauge",
               "Whether each configuration of the job has been listed since it was loaded.");
    for (const auto& [name, job] : jobs) out.value(job.synced ? 1 : 0, "job=" + label_value(name));
    out.metric("job_missing_clusters", "gauge",
               "Clusters without targets in the lists of the job, because they are not available.");
    for (const auto& [name, job] : jobs)
        out.value(job.missing_clusters, "job=" + label_value(name));
    out.metric("job_superseded_configs", "gauge",
               "Earlier configurations of the job with targets still listed.");
    for (const auto& [name, job] : jobs) out.value(job.superseded, "job=" + label_value(name));
    write_oldest(out, "oldest_unsynced_job_seconds",
                 "Time since the oldest configuration without a complete list was loaded.", jobs,
                 &JobMetrics::unsynced_seconds);
    out.metric("held_requests", "gauge", "Requests waiting for a list.");
    for (const auto& [name, job] : jobs) out.value(job.held, "job=" + label_value(name));
}

}  // namespace

namespace {

std::size_t index_of(unsigned code) {
    const auto& codes = ServeMetrics::codes;
    return static_cast<std::size_t>(std::find(codes.begin(), codes.end(), code) - codes.begin());
}

}  // namespace

void ServeMetrics::count_poll(ListForm form, unsigned code, std::size_t bytes) noexcept {
    ++polls[static_cast<std::size_t>(form)][index_of(code)];
    sent_bytes += bytes;
}

void ServeMetrics::count_watch(unsigned code) noexcept { ++watches[index_of(code)]; }

std::string to_text(const ClientMetrics& clients) {
    Writer out;
    out.metric("connections", "gauge", "Connected clients.");
    out.value(clients.connections);
    out.metric("refused_connections_total", "counter", "Clients refused because of a limit.");
    out.value(clients.refused_connections);
    out.metric("refused_requests_total", "counter", "Requests refused for lack of access.");
    out.value(clients.unknown, "code=\"401\"");
    out.value(clients.forbidden, "code=\"403\"");
    if (clients.certificate_end > 0) {
        out.metric("certificate_end_timestamp_seconds", "gauge",
                   "Expiry of the server's certificate, in Unix time.");
        out.value(static_cast<std::uint64_t>(clients.certificate_end));
    }
    return std::move(out).text();
}

std::string to_text(const ConfigMetrics& config) {
    Writer out;
    out.metric("config_last_reload_successful", "gauge",
               "Whether the last content of the configuration file is in use.");
    out.value(config.last_reload_successful ? 1 : 0);
    return std::move(out).text();
}

std::string to_text(const ProfileMetrics& profiles) {
    Writer out;
    out.metric("cluster_profiles", "gauge", "ClusterProfiles of the hub.");
    out.value(profiles.usable, "state=\"usable\"");
    out.value(profiles.unusable, "state=\"unusable\"");
    out.metric("cluster_profiles_failing", "gauge",
               "Whether a watch of ClusterProfiles or their Secrets fails.");
    out.value(profiles.fails ? 1 : 0);
    return std::move(out).text();
}

std::string to_text(const AllocationMetrics& metrics) {
    Writer out("opentelemetry_allocator_");
    const std::string strategy = "strategy=" + label_value(metrics.strategy);
    out.metric("targets", "gauge", "Number of targets discovered.");
    for (const auto& [name, job] : metrics.jobs)
        out.value(job.discovered, "job_name=" + label_value(name));
    const auto sum = [&](std::size_t AllocationMetrics::OfJob::*count) {
        std::size_t total = 0;
        for (const auto& [name, job] : metrics.jobs) total += job.*count;
        return total;
    };
    out.metric("targets_remaining", "gauge", "Number of targets kept after filtering.");
    out.value(sum(&AllocationMetrics::OfJob::kept));
    out.metric("targets_unassigned", "gauge", "Number of targets that no collector has.");
    out.value(sum(&AllocationMetrics::OfJob::unassigned));
    out.metric("targets_per_collector", "gauge", "The number of targets for each collector.");
    for (const auto& [name, targets] : metrics.collectors)
        out.value(targets, "collector_name=" + label_value(name) + "," + strategy);
    out.metric("collectors_discovered", "gauge", "Number of collectors discovered.");
    out.value(metrics.discovered);
    out.metric("collectors_allocatable", "gauge",
               "Number of collectors the allocator is able to allocate to.");
    out.value(metrics.collectors.size(), strategy);
    return std::move(out).text();
}

std::string to_text(const ServeMetrics& metrics, const std::map<std::string, JobMetrics>& jobs) {
    Writer out;
    write_polls(out, metrics);
    write_lists(out, metrics.lists);
    write_consumers(out, metrics.consumers);
    write_watches(out, metrics);
    write_files(out, metrics.files);
    write_jobs(out, jobs);
    return std::move(out).text();
}

}  // namespace k8s_sd_program
