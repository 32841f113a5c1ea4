// Simulated faults, and a week without one, as scrapes of the programs in them. See
// check_alerts.py, which evaluates the alert rules for them.

#include "installation.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "scrapes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
namespace sim = k8s_sd::sim;
using k8s_sd::monitoring::fleet;
using k8s_sd::monitoring::Installation;
using k8s_sd::monitoring::Scrapes;
using k8s_sd::monitoring::two_clusters;
using namespace std::chrono_literals;

/// Adds a job, or a configuration to the last job.
std::string with(const std::string& lines) { return two_clusters + lines; }

void refuse_services(Installation& i) { i.blue.deny("services"); }

const std::string services_of_blue =
    "  - {role: service, api_server: 'https://blue', cluster: blue}\n";

sim::Response never() { return sim::Response::never(); }

void answer_no_list(Installation& i) {
    i.blue.set_intercept([](const sim::Request&) { return std::optional(never()); });
}

void refuse_pods(Installation& i) {
    i.blue.deny("pods");
    i.blue.end_watches();
}

void renew_token(Installation& i) {
    i.blue.set_token("another");
    i.blue.disconnect_all();
}

/// The next watch of each client begins at a version that the server no longer knows.
void expire_watches(Installation& i) {
    i.blue.end_watches();
    i.shop.replace_one();
    i.blue.compact();
}

void add_bad_object(Installation& i) {
    i.green.apply(R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"shop","name":"bad"},)"
                  R"("spec":{"containers":"none"},"status":{"podIP":"10.0.0.1"}})");
}

void lose_snapshots(Installation& i) {
    fs::remove_all(i.directory.path("snapshots"));
    i.directory.write("snapshots", "no directory");
}

void lose_list(Installation& i) {
    fs::remove(i.directory.path("lists/pods.json"));
    i.directory.write("lists/pods.json/file", "");
}

void take_all_down(Installation& i) {
    Installation::take_down(i.blue);
    Installation::take_down(i.green);
}

void do_nothing(Installation&) {}

struct Fault {
    const char* name;
    std::function<void(Installation&)> begin;
    std::function<void(Installation&)> each_minute = do_nothing;  ///< from then on
};

const Fault faults[] = {
    {"programs end",
     [](Installation& i) {
         i.stop("k8s-sd");
         i.stop("host");
         for (const std::string& name : fleet) i.stop(name);
     }},
    {"clusters are away", take_all_down},
    {"a cluster is away", [](Installation& i) { Installation::take_down(i.green); }},
    {"watches are silent", [](Installation& i) { *i.stalls = true; }},
    {"watches expire", expire_watches, expire_watches},
    {"a permission is removed", refuse_pods},
    {"a token is refused", renew_token},
    {"an object is bad", add_bad_object},
    {"a backup is restored", [](Installation& i) { i.restore_backup(); }},
    {"lists hang",
     [](Installation& i) {
         answer_no_list(i);
         std::string names;
         for (int n = 0; n < 19; ++n) names += "ns" + std::to_string(n) + ", ";
         i.configure(with("- job_name: new\n  kubernetes_sd_configs:\n  - {role: endpointslice, "
                          "api_server: 'https://blue', cluster: blue, namespaces: {names: [" +
                          names + "]}}\n"));
     }},
    {"callbacks are late", [](Installation& i) { *i.busy = 20s; }},
    {"a cluster shrinks", [](Installation& i) { i.other.scale(4); }},
    {"clusters shrink",
     [](Installation& i) {
         i.shop.scale(8);
         i.other.scale(4);
     }},
    {"a kubeconfig is missing",
     [](Installation& i) {
         i.configure(with("- job_name: new\n  kubernetes_sd_configs:\n"
                          "  - {role: pod, kubeconfig_file: /nonexistent}\n"));
     }},
    {"a file of targets is cut", [](Installation& i) { i.directory.write("targets.json", "[{"); }},
    {"snapshots cannot be written", lose_snapshots},
    {"a program starts without clusters",
     [](Installation& i) {
         take_all_down(i);
         i.restart("k8s-sd");
     }},
    {"a new job has no permission",
     [](Installation& i) {
         refuse_services(i);
         i.configure(with("- job_name: new\n  kubernetes_sd_configs:\n" + services_of_blue));
     }},
    {"a changed job has no permission",
     [](Installation& i) {
         refuse_services(i);
         i.configure(with("  kubernetes_sd_configs:\n" + services_of_blue));
     }},
    {"a configuration has a mistake", [](Installation& i) { i.configure("scrape_configs: {"); }},
    {"an address is invalid",
     [](Installation& i) {
         i.blue.apply(sim::pod("shop", "bad")
                          .annotation("address", "no/address")
                          .ip("10.0.0.1")
                          .container("main", "main:1", 8080));
     }},
    {"a list cannot be written", lose_list},
    {"a certificate is near its end",
     [](Installation& i) {
         i.issue_certificate(6);
         i.restart("k8s-sd");
     }},
    {"collectors are gone", [](Installation& i) { i.collectors.scale(0); }},
    {"a member has no view",
     [](Installation& i) {
         i.green.deny("endpointslices");
         i.start_member("agent-3", "green");
     }},
    {"no member has a view",
     [](Installation& i) {
         i.blue.deny("endpointslices");
         for (const std::string& name : fleet) i.restart(name);
     }},
    {"members vanish", [](Installation& i) { Installation::write_slice(i.blue, {"agent-0"}); }},
    {"a member has another view",
     [](Installation& i) {
         Installation::write_slice(i.green, {"agent-2"});
         i.stop("agent-2");
         i.start_member("agent-2", "green");
     }},
};

/// Scrapes all programs of an installation.
class Recorder {
 public:
    Recorder(const std::string& file, const std::set<std::string>& metrics,
             std::chrono::seconds interval)
        : out_(file), scrapes_(out_, metrics), interval_(interval) {}

    void pass_minute(Installation& i) {
        for (auto passed = 0s; passed < 1min; passed += interval_) {
            scrape(i);
            i.advance(interval_);
        }
    }

 private:
    void scrape(Installation& i) {
        scrapes_.begin(seconds_);
        seconds_ += interval_.count();
        std::map<std::string, std::string> texts = i.scrape();
        for (const std::string& name : known_) texts.try_emplace(name);
        for (const auto& [name, text] : texts) {
            known_.insert(name);
            scrapes_.add(name, text);
        }
    }

    std::ofstream out_;
    Scrapes scrapes_;
    const std::chrono::seconds interval_;
    long seconds_ = 0;
    std::set<std::string> known_;  // instances
};

/// Forty minutes without the fault, and 75 with it.
void simulate(const Fault& fault, Recorder recorder) {
    constexpr int begin = 40;
    constexpr int end = 115;
    Installation i;
    for (int minute = 0; minute < end; ++minute) {
        if (minute == begin) fault.begin(i);
        if (minute > begin) fault.each_minute(i);
        i.shop.replace_one();
        i.other.replace_one();
        recorder.pass_minute(i);
    }
}

void restart_member(Installation& i, std::size_t number) {
    std::vector<std::string> others = fleet;
    const std::string name = others.at(number);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(number));
    Installation::write_slice(i.blue, others);
    i.restart(name);
    i.after(2min, [&i] { Installation::write_slice(i.blue, fleet); });
}

struct DailyEvent {
    int hour;
    std::function<void(Installation&)> happen;
};

const DailyEvent daily_events[] = {
    {1, [](Installation& i) { i.restart("k8s-sd"); }},
    {2, [](Installation& i) { restart_member(i, 0); }},
    {3, [](Installation& i) { restart_member(i, 1); }},
    {4, [](Installation& i) { restart_member(i, 2); }},
    {5,  // an API server is updated
     [](Installation& i) {
         Installation::take_down(i.blue);
         i.after(3min, [&i] { i.blue.accept_connections(true); });
     }},
    {6, [](Installation& i) { i.shop.scale(28); }},
    {7,
     [](Installation& i) {
         i.configure("scrape_configs: {");
         i.after(4min, [&i] { i.configure(two_clusters); });
     }},
    {8,  // the webhook for tokens fails
     [](Installation& i) {
         i.blue.set_token("another");
         i.blue.end_watches();
         i.after(1min, [&i] { i.blue.set_token(""); });
     }},
    {9,
     [](Installation& i) {
         *i.busy = 10s;
         i.after(2min, [&i] { *i.busy = 1s; });
     }},
    {10, [](Installation& i) { i.collectors.replace_one(); }},
    {11, [](Installation& i) { i.other.scale(7); }},
    {18,
     [](Installation& i) {
         i.shop.scale(20);
         i.other.scale(10);
     }},
};

/// Nothing happens that needs a person.
void simulate_quiet_week(Recorder recorder) {
    constexpr int hour = 60;
    constexpr int week = 7 * 24 * hour;
    Installation i;
    for (int minute = 0; minute < week; ++minute) {
        if (minute % hour < 20) i.shop.replace_one();  // an update of all pods
        if (minute % hour == 40) expire_watches(i);
        for (const DailyEvent& event : daily_events) {
            if (minute % (24 * hour) == event.hour * hour + 10) event.happen(i);
        }
        recorder.pass_minute(i);
    }
}

}  // namespace

/// simulated_faults DIRECTORY METRIC...: writes a file for each fault, and one for the week.
int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::string folder = arguments.at(0) + "/";
    const std::set<std::string> metrics(arguments.begin() + 1, arguments.end());
    for (const Fault& fault : faults) simulate(fault, {folder + fault.name, metrics, 30s});
    simulate_quiet_week({folder + "a quiet week", metrics, 1min});
}
