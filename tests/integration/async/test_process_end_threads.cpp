#include "k8s_sd/environment.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

using namespace k8s_sd;

namespace {

/// All libraries that a configuration thread may use: libyaml, RE2 and OpenSSL.
constexpr const char* demanding_config = R"yaml(
scrape_configs:
- job_name: &name all
  static_configs: [{targets: [a, "b\tc", 'd']}]
  relabel_configs:
  - {source_labels: [__address__], action: hashmod, modulus: 7, target_label: hash}
  - {source_labels: [x], regex: '(.+)-(?P<rest>\pL+)', replacement: '$rest-${1}', target_label: y}
  - action: labelmap
    regex: >-
      __meta_(.+)
)yaml";

/// Calls `main` in a child process; returns the child's wait status.
int status_of_child(const std::function<void()>& main) {
    const pid_t child = fork();
    if (child == 0) {
        main();
        std::_Exit(99);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

void read_again_and_again(const std::shared_ptr<std::atomic<unsigned>>& rounds) {
    system_file_calls()->run([rounds] {
        for (;;) {
            if (parse_scrape_configs(demanding_config).jobs.empty()) std::_Exit(97);
            ++*rounds;
        }
    });
}

}  // namespace

// ThreadSanitizer does not support a child process that starts threads.
#ifndef K8S_SD_THREAD_SANITIZER
TEST_CASE("the end of a process: exit() while configurations are being read is safe at any time") {
    for (unsigned attempt = 0; attempt < 60; ++attempt) {
        const int status = status_of_child([attempt] {
            const auto rounds = std::make_shared<std::atomic<unsigned>>(0);
            for (int thread = 0; thread < 4; ++thread) read_again_and_again(rounds);
            while (*rounds < attempt % 6) {
            }
            std::exit(0);
        });
        REQUIRE(status == 0);
    }
}

TEST_CASE("the end of a process: exit() does not wait for a call that blocks") {
    const int status = status_of_child([] {
        const auto running = system_program_runner()->async_run(
            {.command = "/bin/sleep", .args = {"60"}, .timeout = std::chrono::seconds(60)},
            [](const ProgramRunner::Result&) {});
        alarm(30);  // fails the test if exit() waits
        std::exit(0);
    });
    CHECK(status == 0);
}

TEST_CASE("the end of a process: a thread of the library may end the process") {
    const int status = status_of_child([] {
        alarm(30);
        system_file_calls()->run([] { std::exit(7); });
        for (;;) pause();
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
}
#endif
