// Compares targets with those of Prometheus and vmagent: of the programs themselves, if they are
// installed or in the folder $K8S_SD_PEERS, and of their recorded answers.
// $K8S_SD_DIFFERENTIAL_JOBS and $K8S_SD_DIFFERENTIAL_SEED change the number of jobs and the seed;
// $K8S_SD_RECORD names a folder for new recordings.

#include "differential/command.hpp"
#include "differential/target_questions.hpp"
#include "support/config_fixtures.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

struct Peer {
    LabelDialect dialect;
    std::string program;
    std::string version;  ///< the version of the expected answers
    std::string flags{};  ///< of the program
    ShardingOptions sharding{};

    std::string recording() const {
        const std::string member =
            sharding.members > 1 ? "-member-" + std::to_string(sharding.member) : "";
        return "targets/" + program + "-" + version + member + ".json";
    }
};
const Peer prometheus{LabelDialect::prometheus, "prometheus", "3.5.3"};
const Peer vmagent{LabelDialect::victoriametrics, "vmagent", "1.145.0"};
/// One of several members. The assigning hash covers all labels, and their order.
const Peer member{LabelDialect::victoriametrics,
                  "vmagent",
                  "1.145.0",
                  "-promscrape.cluster.membersCount=5 -promscrape.cluster.memberNum=1 "
                  "-promscrape.cluster.replicationFactor=2",
                  {.members = 5, .member = 1, .replication_factor = 2}};

constexpr std::size_t recorded_jobs = 300;

json::value read_json(const std::string& path) {
    std::ifstream stream(path);
    REQUIRE(stream);
    return json::parse(std::string(std::istreambuf_iterator<char>(stream), {}));
}

/// {"version", "answers"}
json::value ask(const Peer& peer, const std::string& program, const json::array& questions) {
    const TemporaryDirectory folder;
    const std::string in = folder.write("questions", json::serialize(questions));
    const std::string out = folder.path("answers");
    const CommandOutput output =
        run_command("python3 " K8S_SD_ASK_PEER " " + peer.program + " " + program + " " + in + " " +
                    out + " " + peer.flags + " 2>&1");
    INFO(output.text);
    REQUIRE(output.success);
    return read_json(out);
}

/// The outcomes, to prove that the comparison covers something.
struct Comparison {
    std::size_t refused = 0, scraped = 0, dropped = 0, elsewhere = 0, different = 0;
    std::map<std::string, std::size_t> reasons{};

    void add(const Peer& peer, const json::object& question, const json::value& theirs) {
        const json::value ours = answer_of_k8s_sd(peer.dialect, Sharding(peer.sharding), question);
        std::string reason;
        const std::string problem = difference(peer.dialect, question, ours, theirs, reason);
        if (!reason.empty()) ++reasons[reason];
        if (!problem.empty()) {
            ++different;
            INFO(json::serialize(question));
            FAIL_CHECK(problem);
        }
        if (theirs.is_null()) {
            ++refused;
            return;
        }
        for (const json::value& entry : theirs.as_array()) {
            ++(entry.is_object() ? scraped : entry.is_string() ? dropped : elsewhere);
        }
    }

    /// Jobs with a documented difference.
    std::size_t excused() const {
        std::size_t count = 0;
        for (const auto& [reason, jobs] : reasons) count += jobs;
        return count;
    }

    void report(const Peer& peer) const {
        std::string text = peer.program + ": " + std::to_string(scraped) + " scraped, " +
                           std::to_string(dropped) + " dropped, " + std::to_string(elsewhere) +
                           " failed or merged, " + std::to_string(refused) + " jobs refused";
        for (const auto& [reason, count] : reasons) {
            text += "\n  " + std::to_string(count) + ": " + reason;
        }
        WARN(text);
    }
};

void compare(const Peer& peer, const json::array& questions, const json::array& answers) {
    REQUIRE(questions.size() == answers.size());
    Comparison comparison;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        comparison.add(peer, questions[i].as_object(), answers[i]);
    }
    comparison.report(peer);
    // The comparison must have covered something.
    CHECK(comparison.scraped > questions.size() / 2);
    CHECK(comparison.dropped > questions.size() / 20);
    CHECK(comparison.elsewhere > questions.size() / 20);
    CHECK(comparison.refused > questions.size() / 50);
    CHECK(comparison.excused() < questions.size() / 20);
}

json::array make_questions(LabelDialect dialect, std::uint64_t seed, std::size_t count) {
    TargetQuestions generator(dialect, seed);
    json::array questions;
    for (std::size_t i = 0; i < count; ++i) questions.push_back(generator.next());
    return questions;
}

void compare_with_program(const Peer& peer) {
    const std::string program = find_program(peer.program);
    if (program.empty()) {
        SKIP("there is no " << peer.program << ", neither installed nor in $K8S_SD_PEERS");
    }
    const json::value probe = ask(peer, program, {});
    if (probe.at("version") != json::string(peer.version)) {
        SKIP(program << " is version " << json::serialize(probe.at("version")) << ", not "
                     << peer.version);
    }
    if (const char* record = std::getenv("K8S_SD_RECORD")) {
        const json::array questions = make_questions(peer.dialect, 1, recorded_jobs);
        json::object recording{{"questions", questions},
                               {"answers", ask(peer, program, questions).at("answers")}};
        const std::string path = std::string(record) + "/" + peer.recording();
        std::ofstream(path) << json::serialize(recording) << '\n';
        SKIP("recorded in " << path);
    }
    const json::array questions =
        make_questions(peer.dialect, setting("K8S_SD_DIFFERENTIAL_SEED", 2),
                       setting("K8S_SD_DIFFERENTIAL_JOBS", rounds(1000)));
    const json::value answers = ask(peer, program, questions);
    compare(peer, questions, answers.at("answers").as_array());
}

void compare_with_recording(const Peer& peer) {
    const json::value recording = read_json(K8S_SD_TEST_DATA "/" + peer.recording());
    compare(peer, recording.at("questions").as_array(), recording.at("answers").as_array());
}

}  // namespace

TEST_CASE("Targets are those that Prometheus makes") { compare_with_program(prometheus); }
TEST_CASE("Targets are those that vmagent makes") { compare_with_program(vmagent); }
TEST_CASE("Targets of a member are those that vmagent makes") { compare_with_program(member); }
TEST_CASE("Targets are those that Prometheus made when it was recorded") {
    compare_with_recording(prometheus);
}
TEST_CASE("Targets are those that vmagent made when it was recorded") {
    compare_with_recording(vmagent);
}
TEST_CASE("Targets of a member are those that vmagent made when it was recorded") {
    compare_with_recording(member);
}

}  // namespace k8s_sd::test
