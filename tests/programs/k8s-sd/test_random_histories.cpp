#include "client.hpp"
#include "collector_readers.hpp"
#include "collectors/target_allocator.hpp"
#include "files/list_files.hpp"
#include "files/target_folder.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "list_model.hpp"
#include "poll_reader.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_faults.hpp"
#include "random_jobs.hpp"
#include "routes.hpp"
#include "stream_reader.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace k8s_sd_program;
using namespace k8s_sd_program::test;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// The parts of k8s-sd, without program and network.
struct Service {
    Service(Simulation& sim, const ServeOptions& serve, const TargetAllocatorOptions& allocation)
        : strand(boost::asio::make_strand(sim.context)),
          jobs(strand, sim.context.get_executor(), serve, metrics),
          allocator(strand, allocation),
          routes(
              k8s_sd_program::routes(jobs, allocator, metrics,
                                     {.metrics = [] { return std::string(); },
                                      .trouble = [] { return std::string(); },
                                      .servers = [] { return std::vector<k8s_sd::ServerHealth>(); },
                                      .idle_monitors = [] { return std::string(); },
                                      .monitors = [](const auto&) { return std::string(); },
                                      .reload = [](const auto&, const auto&) {},
                                      .executor = strand,
                                      .page_directory = {},
                                      .slow = {}})) {
        k8s_sd::DiscoveryConfig server;
        server.api_server.url = sim.server.url();
        allocator.start(server);
    }
    void write_files(Simulation& sim, const std::string& folder, ListForm form,
                     FolderFile::Complain complain) {
        files.emplace(boost::asio::make_strand(sim.context), sim.clock, folder, form,
                      std::move(complain), metrics.files);
    }
    void use(const k8s_sd::ScrapeConfigFile& file) {
        jobs.apply(file);
        allocator.apply(file);
        if (files) files->follow(jobs);
    }
    void stop() {
        jobs.stop();
        allocator.stop();
        files.reset();
    }

    ServeMetrics metrics;
    boost::asio::any_io_executor strand;
    ServedJobs jobs;
    TargetAllocator allocator;
    http::HttpRoutes routes;
    std::optional<ListFiles> files;
};

/// Divisions of a list: the selections, and the number of them that contain each target.
struct Parts {
    std::vector<std::string> selections;
    unsigned copies = 1;
};
const std::vector<Parts>& divisions() {
    static const std::vector<Parts> all{
        {{""}},
        {{"shard=0&shards=2", "shard=1&shards=2"}},
        {{"member=a-0&shards=3&replicas=2", "member=a-1&shards=3&replicas=2",
          "member=a-2&shards=3&replicas=2"},
         2},
        {{"node=steady", "node=n1", "node=n2"}},
        {{"node=steady&rest=rendezvous&shard=0&shards=2",
          "node=n1&rest=rendezvous&shard=1&shards=2"}}};
    return all;
}
/// The first difference, in readable form.
std::string first_difference(const Answered& list, const Answered& fresh) {
    const auto [a, b] =
        std::mismatch(list.body.begin(), list.body.end(), fresh.body.begin(), fresh.body.end());
    constexpr std::ptrdiff_t shown = 100;
    const auto around = [shown](const std::string& text, auto at) {
        return std::string(at - std::min(shown, at - text.begin()),
                           at + std::min(shown, text.end() - at));
    };
    return std::to_string(list.status) + " …" + around(list.body, a) +
           "…\na fresh start: " + std::to_string(fresh.status) + " …" + around(fresh.body, b) + "…";
}

const std::vector<std::string>& forms() {
    static const std::vector<std::string> all{"discovered", "targets", "urls", "meta", "keep_meta"};
    return all;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '/') {
            out += "%2F";
        } else if (c == ' ') {
            out += "%20";
        } else {
            out += c;
        }
    }
    return out;
}

/// The list requested by a reader.
struct Wanted {
    std::string job;
    std::string form;
    std::string selection;

    bool relabelled() const { return form != "discovered" && form != "meta"; }
    std::string url() const {
        return "/sd/" + escaped(job) + (relabelled() ? "/targets?" : "?") + query();
    }
    std::string stream_url() const {
        return "/v1/watch?job=" + escaped(job) +
               "&list=" + (relabelled() ? "targets" : "discovered") + (query().empty() ? "" : "&") +
               query();
    }

 private:
    std::string query() const {
        std::string text;
        if (form == "urls") text = "form=urls";
        if (form == "meta") text = "meta=__meta_kubernetes_*_name,__meta_kubernetes_pod_label_*";
        if (form == "keep_meta") text = "keep_meta=otel";
        return text + (text.empty() || selection.empty() ? "" : "&") + selection;
    }
};

/// k8s-sd over a random cluster with random changes and failures, and with a configuration,
/// collectors and readers that change randomly, too.
class History {
 public:
    explicit History(std::uint64_t seed)
        : random_(seed),
          sim_(random_server(random_), random_transport(random_)),
          cluster_(random_, sim_.server),
          faults_(random_, sim_),
          jobs_(random_, sim_.server.url()),
          serve_(random_serving()),
          allocation_(random_allocation()),
          files_(random_files()),
          service_(std::make_unique<Service>(sim_, serve_, allocation_)),
          collectors_(random_, sim_, service_->routes, service_->allocator,
                      [this](const auto& text) { complain(text); }) {
        sim_.server.apply(steady_pod({}));
        sim_.server.apply(node("steady"));
        for (unsigned i = random_.below(40); i > 0; --i) cluster_.change();
        if (files_) {
            service_->write_files(sim_, folder_.path(), *files_,
                                  [this](const auto& text) { complain(text); });
        }
        reload();
        for (unsigned i = 0; i < 6; ++i) streams_.push_back(make_stream());
        for (unsigned i = 0; i < 6; ++i) polls_.push_back(make_poll());
    }

    void run() {
        faults_.begin();
        for (unsigned i = 80; i > 0; --i) {
            change();
            read();
            for (unsigned n = random_.below(40); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) pass(std::chrono::milliseconds(random_.below(4000)));
            if (random_.one_in(20)) pass(std::chrono::seconds(random_.below(120)));
        }
        if (random_.one_in(4)) pass(6min);
        faults_.end();
        collectors_.forget();
        // Collectors that are not ready, and handovers.
        pass(5min);
    }

    void check() {
        check_readers();
        check_files();
        const auto lists = all_lists(*service_);
        const bool usable = RandomJobs::is_usable(file_);
        if (RandomJobs::has_usable_job(file_)) CHECK(service_->jobs.not_ready() == "");
        stop();
        Service anew(sim_, serve_, allocation_);
        anew.use(file_);
        sim_.advance(5min);
        const auto fresh = all_lists(anew);
        CHECK(fresh.size() == lists.size());
        for (const auto& [url, list] : lists) {
            // An unusable configuration leaves the job unchanged.
            if (!usable && url == "/jobs") continue;
            // If relabelling makes several targets on different nodes equal, the oldest one
            // determines the node.
            if (url.find("/targets?") != std::string::npos &&
                url.find("node=") != std::string::npos)
                continue;
            const Answered& now = fresh.at(url);
            if (now.status == 503 && !usable) continue;
            if (now.status == list.status && now.body == list.body && now.tag == list.tag) continue;
            FAIL_CHECK(url << ": " << first_difference(list, now));
        }
        anew.stop();
        sim_.settle();
        CHECK(problems_ == "");
    }

 private:
    ServeOptions random_serving() {
        ServeOptions serve;
        serve.clock = sim_.clock;
        if (random_.one_in(4)) serve.held_requests = 2;
        if (random_.one_in(4)) serve.watch_readers = 3;
        return serve;
    }
    TargetAllocatorOptions random_allocation() {
        TargetAllocatorOptions allocation;
        allocation.clock = sim_.clock;
        allocation.date = [clock = sim_.clock] {
            return std::chrono::system_clock::time_point(clock->now().time_since_epoch());
        };
        allocation.selector = "app=collector";
        allocation.ns = CollectorReaders::ns;
        if (!random_.one_in(3)) allocation.handover = 90s;
        if (random_.one_in(3)) allocation.allocation.allocation = Allocation::per_node;
        allocation.allocation.fallback = random_.one_in(2);
        return allocation;
    }

    std::optional<ListForm> random_files() {
        if (!random_.one_in(4)) return std::nullopt;
        return random_.one_in(2) ? ListForm::discovered : ListForm::relabelled;
    }

    void complain(const std::string& problem) {
        if (problems_.size() < 2000) problems_ += problem.substr(0, 500) + "\n";
    }

    // --- events -------------------------------------------------------------------------------

    static boost::json::object steady_pod(const Strings& labels) {
        return pod(
            {.name = "steady", .ns = "a", .ip = "10.9.9.9", .node = "steady", .labels = labels});
    }
    void reload() {
        file_ = jobs_.next();
        service_->use(file_);
    }
    void change() {
        switch (random_.below(12)) {
            case 0: return faults_.disturb();
            case 1:
            case 2:
                reload();
                // Jobs are restored before any reader has learned of their removal.
                if (random_.one_in(3)) reload();
                return;
            case 3:
            case 4: return collectors_.change();
            case 5:
                return static_cast<void>(
                    sim_.server.apply(steady_pod({{"app", random_.numbered("x", 3)}})));
            default: return cluster_.change();
        }
    }
    void pass(k8s_sd::Duration time) {
        for (k8s_sd::Duration left = time; left.count() > 0; left -= 1s) {
            sim_.advance(std::min<k8s_sd::Duration>(left, 1s));
            collectors_.poll();
        }
    }

    // --- readers ------------------------------------------------------------------------------

    std::string any_job() {
        return random_.one_in(2) ? std::string(RandomJobs::always)
                                 : random_.pick(RandomJobs::names());
    }
    Wanted any_list() {
        return {any_job(), random_.pick(forms()),
                random_.pick(random_.pick(divisions()).selections)};
    }
    std::unique_ptr<StreamReader> make_stream() {
        const Wanted wanted = any_list();
        wanted_.emplace(wanted.stream_url(), wanted);
        const StreamReader::Options options{.url = wanted.stream_url(),
                                            .sse = random_.one_in(2),
                                            .forgets = random_.one_in(3),
                                            .connection = ++connections_};
        return std::make_unique<StreamReader>(
            service_->routes, options, [this, wanted](const ListModel& list) { saw(wanted, list); },
            [this, wanted](const auto& text) { complain(wanted.stream_url() + ": " + text); });
    }
    std::unique_ptr<PollReader> make_poll() {
        const Wanted wanted = any_list();
        const bool held = random_.one_in(3);
        const PollReader::Options options{.url = wanted.url() + (held ? "&hold=1" : ""),
                                          .wait = held ? 0 : 1 + random_.below(100),
                                          .connection = ++connections_};
        wanted_.emplace(options.url, wanted);
        return std::make_unique<PollReader>(
            service_->routes, options, [this, wanted](const ListModel& list) { saw(wanted, list); },
            [this, wanted](const auto& text) { complain(wanted.url() + ": " + text); });
    }

    void read() {
        for (const auto& stream : streams_) {
            if (random_.one_in(3)) stream->take();
            if (random_.one_in(50)) stream->disconnect();
        }
        for (const auto& poll : polls_) {
            if (random_.one_in(3)) poll->ask_again();
        }
        if (random_.one_in(2))
            check_job(any_job(), random_.pick(forms()), random_.pick(divisions()));
        if (random_.one_in(4)) collectors_.check();
        if (random_.one_in(4)) read_file(std::string(RandomJobs::always));
    }
    /// nullopt: no such file.
    std::optional<std::string> file_of(const std::string& job) const {
        std::ifstream file(folder_.path(file_name_of(job)), std::ios::binary);
        if (!file) return std::nullopt;
        return std::string{std::istreambuf_iterator<char>(file), {}};
    }
    void read_file(const std::string& job) {
        const auto text = file_of(job);
        if (!text && had_file_) complain("the file of " + job + " is gone");
        if (!text) return;
        had_file_ = true;
        ListModel list;
        list.replace(*text);
        if (!list.has(RandomJobs::steady_address)) {
            complain("the file of " + job + " lacks the steady target");
        }
    }
    /// Requests all parts of a list at one time: together they have the steady target.
    void check_job(const std::string& job, const std::string& form, const Parts& parts) {
        struct Counts {
            std::size_t asked = 0, lists = 0, owners = 0;
        };
        const auto counts = std::make_shared<Counts>();
        counts->asked = parts.selections.size();
        for (const std::string& selection : parts.selections) {
            const Wanted wanted{job, form, selection};
            ask(service_->routes, {.url = wanted.url()},
                [this, counts, wanted, copies = parts.copies](const Answered& answer) {
                    if (answer.status == 200) {
                        const ListModel list =
                            list_of(answer, [this](const auto& text) { complain(text); });
                        saw(wanted, list);
                        ++counts->lists;
                        if (list.has(RandomJobs::steady_address)) ++counts->owners;
                    }
                    if (counts->lists < counts->asked || !RandomJobs::is_steady(wanted.job)) return;
                    const bool too_many = counts->owners > copies && wanted.relabelled();
                    if (counts->owners < copies || too_many) {
                        complain(wanted.url() + ": the steady target is in " +
                                 std::to_string(counts->owners) + " parts");
                    }
                });
        }
    }
    /// A reader has received this list: it has the steady target if required. A discovered list can
    /// have the same pod in another part, too, discovered differently and dropped by the rules.
    void saw(const Wanted& wanted, const ListModel& list) {
        if (!RandomJobs::is_steady(wanted.job)) return;
        const bool has = list.has(RandomJobs::steady_address);
        const bool of_all = wanted.selection.empty() || wanted.selection.starts_with("node=steady");
        if (of_all && !has) complain(wanted.url() + ": lacks the steady target");
        const std::string part = wanted.job + ' ' + wanted.selection;
        if (wanted.relabelled()) owners_.emplace(part, has);
        const auto owner = owners_.find(part);
        if (owner == owners_.end() || owner->second == has) return;
        if (!has) complain(wanted.url() + ": lacks the steady target, which was there");
        if (has && wanted.relabelled()) {
            complain(wanted.url() + ": has the steady target of another part");
        }
    }

    // --- the end ------------------------------------------------------------------------------

    /// Until no reader has pending data.
    void drain() {
        for (unsigned i = 0; i < 10; ++i) {
            for (const auto& stream : streams_) stream->take();
            for (const auto& poll : polls_) poll->ask_again();
            pass(200ms);
        }
    }
    /// After a final change all waiting readers have the newest list, long before a heartbeat.
    void check_readers() {
        drain();
        sim_.server.apply(steady_pod({{"news", "x"}}));
        pass(6s);
        drain();
        const auto lists = all_lists(*service_);
        for (const auto& stream : streams_) {
            CAPTURE(stream->url());
            if (!stream->waits()) continue;
            const Answered& list = lists.at(wanted_.at(stream->url()).url());
            if (list.status == 200) CHECK('"' + stream->version() + '"' == list.tag);
        }
        for (const auto& poll : polls_) {
            CAPTURE(poll->url());
            if (!poll->waits()) continue;
            const Answered& list = lists.at(wanted_.at(poll->url()).url());
            if (list.status == 200) CHECK(poll->known() == list.tag);
        }
    }
    void check_files() {
        if (!files_) return;
        const auto lists = all_lists(*service_);
        const std::string form = *files_ == ListForm::discovered ? "discovered" : "targets";
        for (const std::string& job : RandomJobs::names()) {
            CAPTURE(job);
            const Answered& list = lists.at(Wanted{job, form, ""}.url());
            const auto file = file_of(job);
            CHECK((list.status == 200) == file.has_value());
            if (file) CHECK(list.body == *file);
        }
    }
    void stop() {
        service_->stop();
        sim_.settle();
        for (const auto& stream : streams_) CHECK_FALSE(stream->waits());
        for (const auto& poll : polls_) CHECK_FALSE(poll->waits());
        CHECK(sim_.server.open_connections() == 0);
        CHECK(sim_.clock->next_expiry() == k8s_sd::TimePoint::max());
    }
    /// The immediate responses of a service.
    std::map<std::string, Answered> all_lists(Service& service) {
        std::map<std::string, Answered> lists;
        const auto get = [&](const std::string& url) {
            ask(service.routes,
                {.url = url, .headers = {{"X-Prometheus-Refresh-Interval-Seconds", "0"}}},
                [&, url](const Answered& answer) { lists[url] = answer; });
        };
        for (const std::string& job : RandomJobs::names()) {
            for (const std::string& form : forms()) {
                for (const Parts& parts : divisions()) {
                    for (const std::string& selection : parts.selections) {
                        get(Wanted{job, form, selection}.url());
                    }
                }
            }
            get("/jobs/" + escaped(job) + "/targets");
            for (const std::string& name : CollectorReaders::names()) {
                get(CollectorReaders::url(escaped(job), name));
            }
        }
        get("/jobs");
        get("/scrape_configs");
        sim_.settle();
        return lists;
    }

    const TemporaryDirectory folder_;
    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    RandomFaults faults_;
    RandomJobs jobs_;
    const ServeOptions serve_;
    const TargetAllocatorOptions allocation_;
    const std::optional<ListForm> files_;  ///< lists that are written to files
    k8s_sd::ScrapeConfigFile file_;
    std::unique_ptr<Service> service_;
    CollectorReaders collectors_;
    std::vector<std::unique_ptr<StreamReader>> streams_;
    std::vector<std::unique_ptr<PollReader>> polls_;
    std::map<std::string, Wanted> wanted_;  ///< by URL
    std::uint64_t connections_ = 0;
    std::map<std::string, bool> owners_;  ///< whether a part has the steady target
    bool had_file_ = false;
    std::string problems_;
};

}  // namespace

TEST_CASE("k8s-sd: any history leads to the lists of a fresh start, and no reader misses a target "
          "that was there all the time") {
    for_each_seed("PROGRAM", 150, [](std::uint64_t seed) {
        History history(seed);
        history.run();
        history.check();
    });
}
