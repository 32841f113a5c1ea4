#include "k8s_sd/detail/scrape/config_scan.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

namespace {

ScrapeConfigFile file_of(const std::vector<std::string>& names) {
    ScrapeConfigFile file;
    for (const std::string& name : names) {
        ScrapeJob& job = file.jobs.emplace_back();
        job.scrape.job_name = name;
    }
    return file;
}

}  // namespace

TEST_CASE("KnownJobs: a job missing in a file is a loss, unless the file has it as failed") {
    const KnownJobs known = KnownJobs().after(file_of({"a", "b", "c"}));
    ScrapeConfigFile file = file_of({"b"});
    file.failures.push_back({"c", "file.yml", "is unusable"});
    CHECK(known.missing_in(file) == std::vector<std::string>{"a"});
    CHECK(known.missing_in(file_of({"a", "b", "c", "d"})).empty());
}

TEST_CASE("KnownJobs: a job known by name only differs from each version of it") {
    const KnownJobs known(std::set<std::string>{"a"});
    CHECK(known.differ_in(file_of({"a"})));
    CHECK_FALSE(known.differ_in(file_of({"b"})));
    const KnownJobs next = known.after(file_of({"a"}));
    CHECK_FALSE(next.differ_in(file_of({"a"})));
    ScrapeConfigFile other = file_of({"a"});
    other.jobs.front().scrape.metrics_path = "/other";
    CHECK(next.differ_in(other));
}

TEST_CASE("KnownJobs: a file with failures leaves the host its other jobs") {
    const KnownJobs known = KnownJobs().after(file_of({"a", "b"}));
    ScrapeConfigFile file = file_of({"a"});
    file.failures.push_back({"", "file.yml", "is unusable"});
    CHECK(known.after(file).missing_in(file_of({"a"})) == std::vector<std::string>{"b"});
    CHECK(known.after(file_of({"a"})).missing_in(file_of({"a"})).empty());
}

TEST_CASE("ScanConfirmation: a scan confirms an update if it began one interval later") {
    ScanConfirmation confirmation(10s);
    CHECK_FALSE(confirmation.pending());
    confirmation.hold({}, TimePoint{100s}, false);
    CHECK(confirmation.pending());
    CHECK_FALSE(confirmation.confirm(TimePoint{109s}, false));
    CHECK(confirmation.due() == TimePoint{110s});
    CHECK(confirmation.confirm(TimePoint{110s}, false));
    CHECK_FALSE(confirmation.pending());
}

TEST_CASE("ScanConfirmation: a host that waits gets the update after a second") {
    ScanConfirmation confirmation(10s);
    confirmation.hold({}, TimePoint{100s}, true);
    CHECK(confirmation.due() == TimePoint{101s});
    confirmation.hold({}, TimePoint{100s}, false);
    CHECK_FALSE(confirmation.confirm(TimePoint{105s}, true));
    CHECK(confirmation.due() == TimePoint{106s});
}

TEST_CASE("ScanConfirmation: without an interval the second scan follows after a second") {
    ScanConfirmation confirmation(0s);
    confirmation.hold({}, TimePoint{100s}, false);
    CHECK(confirmation.due() == TimePoint{101s});
}

TEST_CASE("ScanRequests: a call is pending until an update of a later scan answers it") {
    ScanRequests requests;
    requests.receive(requests.ask());
    requests.begin_scan();
    requests.receive(requests.ask());
    CHECK(requests.of_scan() == 1);
    requests.answer(requests.of_scan());
    CHECK(requests.pending());
    requests.begin_scan();
    requests.answer(requests.of_scan());
    CHECK_FALSE(requests.pending());
    CHECK(requests.answered() == 2);
}

}  // namespace k8s_sd::detail
