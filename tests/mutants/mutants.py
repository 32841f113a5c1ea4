"""The mutants of scripts/test-mutants: each breaks one line and names the test that must fail.

A file below include/ is compiled in one translation unit of the library, so the test may see it
only through the library. A class in a header is such a file for integration tests.
"""
from dataclasses import dataclass

DETAIL = "include/k8s_sd/detail/"
PROGRAMS = "src/programs/"
UNIT = "tests/unit"
INTEGRATION = "tests/integration"
COMMON = "tests/programs/k8s_sd_programs_common_tests"
K8S_SD = "tests/programs/k8s_sd_program_tests"


@dataclass(frozen=True)
class Mutant:
    subject: str
    program: str  # the test program, below the build directory
    test: str
    file: str
    old: str  # occurs once in the file
    new: str


def of(subject, *rows):
    return [Mutant(subject, *row) for row in rows]


MUTANTS = [
    *of("forms of lists",
        (INTEGRATION, "Forms of lists: a relist has another form, too",
         DETAIL + "watch/watch_machine.hpp",
         "plan_.on_failure(skips_retry(failure), evidence_of(failure));", ";"),
        (INTEGRATION,
         "Forms of lists: what refuses protobuf is asked for JSON, whatever it says",
         DETAIL + "watch/watch_forms.ipp",
         "memory().on_json(subject_.kind(), encoding_.plain_until().value_or(now()));", ""),
        (INTEGRATION, "Forms of lists: what is compressed without being asked for is unpacked",
         DETAIL + "watch/watch_exchange.ipp",
         "if (exchange_.packed) inflater_ = std::make_unique<Inflater>();", ""),
        (INTEGRATION,
         "Forms of lists: a server that is overloaded is asked in the same forms afterwards",
         DETAIL + "watch/watch_forms.ipp",
         "failed ? failed->may_be_due_to_form() : !is_about_position(verdict.outcome);",
         "true;")),
    *of("versions",
        (INTEGRATION,
         "Versions that go back: a bookmark from before the watch is followed by a list",
         DETAIL + "watch/url_watcher_response.ipp",
         "if (machine_.is_before_watch(version)) {", "if (version.empty()) {"),
        (INTEGRATION,
         "Versions that go back: an object from before the watch gives a restored server away",
         DETAIL + "watch/url_watcher_response.ipp",
         "state().found.doubted = true;", "state().found.doubted = false;")),
    *of("removals",
        (INTEGRATION,
         "URLWatcher: an object that is too large stays as it was, and is an error, until it goes",
         DETAIL + "watch/watch_intake.ipp",
         "store_.mark_listed(bad.ns, bad.name);", "static_cast<void>(known);"),
        (INTEGRATION, "URLWatcher: a list with a nameless object removes no object",
         DETAIL + "watch/watch_intake.ipp",
         "if (!is_identified(bad, subject_.kind())) return store_.mark_nameless();",
         "if (!is_identified(bad, subject_.kind())) return;"),
        (INTEGRATION,
         "Discoverer: an object that asks for too many targets keeps those that it had",
         DETAIL + "groups/role_groups.ipp",
         "return entry.current ? group : earlier;", "return group;")),
    *of("identity",
        (INTEGRATION,
         "WarmStart: after a kubeconfig has moved the snapshot is one of the new server",
         DETAIL + "discovery/snapshots/warm_targets.ipp",
         "if (const auto source = source_.lock()) server_ =",
         "if (const auto source = source_.lock(); source && !server_) server_ ="),
        (INTEGRATION,
         "ObjectCache: an immutable object that is created again is found within 16 minutes",
         DETAIL + "cache/object_cache_impl.ipp",
         "immutable_recheck_interval = std::chrono::minutes(15);",
         "immutable_recheck_interval = std::chrono::hours(15);"),
        (INTEGRATION,
         "Cluster-wide: a refused request is repeated after an hour, without effect on hosts",
         DETAIL + "sharing/kind_watches.ipp",
         "constexpr Duration refusal_duration = std::chrono::hours(1);",
         "constexpr Duration refusal_duration = std::chrono::hours(1000);")),
    *of("end of the process",
        (INTEGRATION,
         "the end of a process: exit() while configurations are being read is safe at any time",
         DETAIL + "base/process_end.ipp",
         "end.has_begun = true;\n"
         "    end.idle.wait_for(lock, max_exit_wait, [&] { return end.busy <= own; });",
         "static_cast<void>(own);"),
        (INTEGRATION,
         "the end of a process: exit() while configurations are being read is safe at any time",
         DETAIL + "base/process_end.ipp",
         "    become_idle(*end);\n    become_busy(*end);  // never returns\n", "")),
    *of("callbacks",
        (INTEGRATION, "Dropped watchers: an observer may drop its watcher in each of its calls",
         DETAIL + "watch/url_watcher_verdict.ipp",
         "if (!stopped()) notify([this] { observer_.on_synced(); });",
         "notify([this] { observer_.on_synced(); });"),
        (INTEGRATION, "Dropped watchers: an observer may drop its watcher in each of its calls",
         DETAIL + "watch/url_watcher_verdict.ipp",
         "if (!stopped()) notify([this] { observer_.on_batch_end(); });",
         "notify([this] { observer_.on_batch_end(); });")),
    *of("connects",
        (INTEGRATION, "Connect budget: a short request does not wait behind watches",
         DETAIL + "client/short_request.ipp",
         "request.urgency = PermitQueue::Urgency::urgent;", ""),
        (INTEGRATION, "Connect budget: the wait does not count as time of the server's answer",
         DETAIL + "watch/url_watcher_requests.ipp",
         "exchange_.on_connecting();", ""),
        (UNIT, "PermitQueue: reserved permits are for urgent requests only",
         DETAIL + "async/permit_queue.ipp",
         "granted_ + reserved < limit_.permits", "granted_ < limit_.permits")),
    *of("waiting",
        (INTEGRATION, "Forms of lists: an outage before does not delay the confirmation of a list",
         DETAIL + "watch/watch_machine.hpp",
         "? later()\n"
         "                                                : Sleep{retries_.short_pause(), "
         "Waiting::backoff};",
         "? later() : later();"),
        (INTEGRATION,
         "Forms of lists: probes that are not answered keep a watch waiting for 25 s",
         DETAIL + "watch/watch_request.ipp", "{.limit = 1, .hasty = true}", "{.limit = 1}")),
    *of("limits",
        (UNIT, "RelabelLimits: rules that double a value end at the limit, named with the rule",
         DETAIL + "relabel/relabel_budget.hpp",
         "if (bytes > limits_.text_bytes) [[unlikely]]",
         "if (bytes > 64 * limits_.text_bytes) [[unlikely]]"),
        (UNIT, "generic objects: one whose values take too much memory is too large, however short",
         DETAIL + "codec/generic_reader.ipp",
         "void on_integer(std::int64_t) noexcept { sum_ += value; }",
         "void on_integer(std::int64_t) noexcept { sum_ += 1; }"),
        (INTEGRATION,
         "ScrapeConfigReloader: a file truncated in one scan removes nothing, wherever it ends",
         DETAIL + "scrape/config_scan.ipp",
         "scan.needs_confirmation = !scan.update->removed.empty() || jobs.differ_in(file);",
         "scan.needs_confirmation = false;"),
        (K8S_SD,
         "Listing: a division that would take too long is refused, with the possible shards",
         PROGRAMS + "k8s-sd/lists/listing.cpp", "        check_cost(division);\n", "")),
    *of("texts of other programs",
        (UNIT, "Exec: a program that gives Go's zero time as expiry is not run again",
         DETAIL + "auth/exec_credential.ipp",
         "issued.expiry = read_go_time(expiry);",
         "issued.expiry = read_go_time(expiry).value_or(std::chrono::sys_seconds{});"),
        (UNIT, "JsonDecoder: a byte order mark before a body is skipped, however it is cut",
         DETAIL + "codec/json/json_decoder.ipp",
         "return mark_.feed(bytes, [this](std::string_view text) { return feed_text(text); });",
         "return feed_text(bytes);"),
        (INTEGRATION,
         "trust_certificates: a broken certificate among others is skipped, and reported",
         DETAIL + "transport/tls/tls.ipp",
         "if (read.good.empty()) refuse_broken", "if (read.broken > 0) refuse_broken"),
        (INTEGRATION, "HttpConnection: padded sizes of chunks are read, and the connection serves "
         "again",
         DETAIL + "transport/chunked_body.hpp", "digits.remove_suffix(1);", "break;")),
    *of("messages",
        (UNIT, "in_words: exceptions of Asio show no function and no source file",
         DETAIL + "text/error_text.ipp",
         "return place_of(*of_boost) + in_words(of_boost->code());", "return of_boost->what();"),
        (UNIT, "judge: the error of a gateway or a cloud is reported, with any content type",
         DETAIL + "watch/outcome.ipp",
         "status->message = read_foreign_error(body);", "")),
    *of("programs",
        (COMMON, "HttpRequestReader: what a proxy could frame otherwise is refused, and nothing "
         "behind it is read",
         PROGRAMS + "http/http_request.cpp",
         "if (message.version() < 11) {", "if (message.version() < 10) {"),
        (K8S_SD, "ServedJob: targets that fail are reported with an example, and not too often",
         PROGRAMS + "k8s-sd/jobs/served_job.cpp",
         "    next_report_ = now + pace;\n", ""),
        (K8S_SD, "Program: targets beyond a limit of relabelling are in /readyz and in the metrics",
         PROGRAMS + "k8s-sd/routes.cpp", "jobs.failed() + jobs.failed_targets() + jobs.stale()",
         "jobs.failed() + jobs.stale()")),
]
