#include "config_check.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sstream>
#include <string>

namespace {

struct Checked {
    explicit Checked(const std::string& text, bool strict = false) {
        k8s_sd_program::Options options;
        options.config_file = directory.write("p.yml", text);
        options.strict = strict;
        std::ostringstream jobs;
        std::ostringstream mistakes;
        status = check_config(options, jobs, mistakes);
        out = jobs.str();
        errors = mistakes.str();
    }
    std::string path() const { return directory.path("p.yml"); }

    k8s_sd::test::TemporaryDirectory directory;
    cli::ExitStatus status{};
    std::string out, errors;
};

}  // namespace

TEST_CASE("check_config: names the jobs of a good file and what is left to their agents") {
    const Checked good(
        "scrape_configs:\n"
        "- job_name: pods\n  kubernetes_sd_configs: [{role: pod, namespaces: {names: [shop]}}]\n"
        "  relabel_configs: [{action: keep, source_labels: [a], regex: b}]\n"
        "- job_name: fixed\n  static_configs: [{targets: ['10.0.0.1:80']}]\n"
        "  honor_labels: true\n");
    CHECK(good.status == cli::exit_fine);
    CHECK(good.errors.empty());
    CHECK(good.out == "job pods: pods in namespace shop; 1 rule\n"
                      "job fixed: targets of the configuration; 0 rules\n"
                      "note: job fixed: left to its agents, no list has it: honor_labels\n" +
                          good.path() + ": 2 usable jobs, 0 mistakes\n");
}

TEST_CASE("check_config: reports every mistake with its file, line and key") {
    const Checked bad(
        "scrape_configs:\n"
        "- job_name: a\n  static_configs: [{targets: ['10.0.0.1:80']}]\n"
        "- job_name: b\n  scrape_intervall: 5s\n"
        "- job_name: c\n  kubernetes_sd_configs: [{role: pod, namespaces: {names: [Shop_1]}}]\n"
        "- {}\n");
    CHECK(bad.status == cli::exit_unusable);
    CHECK(bad.errors.find(bad.path() + ":5: scrape_configs[1].scrape_intervall: ") == 0);
    CHECK(bad.errors.find(bad.path() + ":7: scrape_configs[2].kubernetes_sd_configs[0]") !=
          bad.errors.npos);
    CHECK(bad.errors.find(bad.path() + ":8: scrape_configs[3].job_name: is missing") !=
          bad.errors.npos);
    CHECK(bad.out.find("job a: ") == 0);
    CHECK(bad.out.find("1 usable job, 3 mistakes\n") != bad.out.npos);
}

TEST_CASE("check_config: a file that lists no jobs, or is none, is a mistake") {
    for (const char* text : {"", "# nothing\n", "scrape_configs:\n", "global: 1\n", "a: [b\n"}) {
        CAPTURE(text);
        const Checked bad(text);
        CHECK(bad.status == cli::exit_unusable);
        CHECK(bad.errors.find(bad.path()) == 0);
        CHECK(bad.out.find("0 usable jobs, 1 mistake\n") != bad.out.npos);
    }
    CHECK(Checked("scrape_configs: []\n").status == cli::exit_fine);
    CHECK(Checked("scrape_configs: [{job_name: a, honor_labels: true}]\n", true).status ==
          cli::exit_unusable);
}
