#include "k8s_sd/environment.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/scripts.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using End = ProgramRunner::Result::End;
using Result = ProgramRunner::Result;

namespace {

ProgramRunner::Program program(const std::string& command) {
    ProgramRunner::Program result;
    result.command = command;
    result.timeout = 20s;
    result.max_output = 1 << 20;
    return result;
}

/// Runs a program to its end. It leaves neither a zombie nor a descriptor behind.
Result run(const ProgramRunner::Program& program) {
    const auto before = open_descriptors();
    std::promise<Result> promise;
    const auto running = system_program_runner()->async_run(
        program, [&](Result result) { promise.set_value(std::move(result)); });
    Result result = promise.get_future().get();
    CHECK(open_descriptors() == before);
    siginfo_t info{};
    CHECK(::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1);
    CHECK(errno == ECHILD);
    return result;
}

Result run_script(const std::string& text) {
    const Scripts scripts;
    return run(program(scripts.script(text)));
}

struct Stopwatch {
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    bool below(Duration time) const { return std::chrono::steady_clock::now() - began < time; }
};

}  // namespace

TEST_CASE("ProgramRunner: gives arguments and variables, and gets what is printed") {
    const Scripts scripts;
    const ScopedVariable inherited("K8S_SD_TEST_INHERITED", "from the host");
    const ScopedVariable replaced("K8S_SD_TEST_REPLACED", "old");
    auto p = program(scripts.script(R"(printf '%s|' "$@" "$A" "$K8S_SD_TEST_INHERITED" )"
                                    R"("$K8S_SD_TEST_REPLACED"; echo warned >&2)"));
    p.args = {"get token", "", "$HOME;`id`"};
    p.variables = {{"A", "first"}, {"K8S_SD_TEST_REPLACED", "new"}, {"A", "b\nc"}};
    const Result result = run(p);
    CHECK(result.end == End::exited);
    CHECK(result.code == 0);
    CHECK(result.output == "get token||$HOME;`id`|b\nc|from the host|new|");
    CHECK(result.errors == "warned\n");
}

TEST_CASE("ProgramRunner: a program without a slash is looked for in PATH") {
    const Scripts scripts;
    scripts.script("echo found", "bin/k8s-sd-login");
    const ScopedVariable path("PATH",
                              "relative::/nowhere:" + scripts.path("bin") + ":/usr/bin:/bin");
    CHECK(run(program("k8s-sd-login")).output == "found\n");
    // Skips a folder of that name, and a file that is not executable.
    std::filesystem::create_directories(scripts.path("bin/k8s-sd-folder"));
    scripts.write("bin/k8s-sd-plain", "echo");
    for (const char* name : {"k8s-sd-missing", "k8s-sd-folder", "k8s-sd-plain"}) {
        const Result result = run(program(name));
        CHECK(result.end == End::not_found);
        CHECK(result.detail ==
              "not in PATH (relative::/nowhere:" + scripts.path("bin") + ":/usr/bin:/bin)");
    }
}

TEST_CASE("ProgramRunner: reports why a program cannot be run") {
    const Scripts scripts;
    Result result = run(program(scripts.path("missing")));
    CHECK(result.end == End::not_found);
    result = run(program(scripts.write("plain", "#!/bin/sh\necho")));
    CHECK(result.end == End::not_allowed);
    CHECK(result.detail == "Permission denied");
    result = run(program(scripts.path()));
    CHECK(result.end == End::not_allowed);
    const std::string odd = scripts.script("", "odd");
    scripts.write("odd", "#!/nowhere/interpreter\n");
    result = run(program(odd));
    CHECK(result.end == End::not_started);
    CHECK(result.detail == "the interpreter that its first line names does not exist");
    scripts.write("odd", "neither this nor that");
    result = run(program(odd));
    CHECK(result.end == End::not_started);
    CHECK(contains(result.detail, "#!"));
}

TEST_CASE("ProgramRunner: reports exit statuses and signals, with the beginning of the output") {
    Result result = run_script("echo half; echo sorry >&2; exit 3");
    CHECK(result.end == End::exited);
    CHECK(result.code == 3);
    CHECK(result.output == "half\n");
    CHECK(result.errors == "sorry\n");
    result = run_script("kill -SEGV $$");
    CHECK(result.end == End::killed);
    CHECK(result.code == SIGSEGV);
    result = run_script("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1");
    CHECK(result.end == End::exited);
    CHECK(result.errors == std::string(4096, 'x'));
}

TEST_CASE("ProgramRunner: a program has no input, no terminal, no descriptor of the host, and "
          "default signals") {
    // The host forgets to close a descriptor, ignores signals and blocks others.
    const int leaked = ::open("/dev/zero", O_RDONLY);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction previous {};
    ::sigaction(SIGUSR1, &ignore, &previous);
    const Result result = run_script("cat; readlink /proc/$$/fd/0; ls /proc/$$/fd; "
                                     "(: < /dev/tty) 2>/dev/null && echo tty; "
                                     "test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo session; "
                                     "grep -E 'SigBlk|SigIgn' /proc/$$/status | tr -d '\\n\\t'");
    ::sigaction(SIGUSR1, &previous, nullptr);
    ::close(leaked);
    INFO(result.output);
    CHECK(contains(result.output, "/dev/null\n0\n1\n10\n2\nsession\n"));  // 10 is the script
    CHECK(contains(result.output, "SigBlk:0000000000000000SigIgn:"));
    // glibc reserves two signals above these.
    CHECK((std::stoull(result.output.substr(result.output.size() - 16), nullptr, 16) &
           0x7fffffff) == 0);
}

TEST_CASE("ProgramRunner: a program that takes too long is killed, whatever it ignores and "
          "whatever it started") {
    const Scripts scripts;
    std::string text;
    SECTION("it hangs") { text = "sleep 1000"; }
    SECTION("it ignores SIGTERM") { text = "trap '' TERM HUP INT; while :; do sleep 1000; done"; }
    SECTION("it has closed its output") { text = "exec >&- 2>&-; sleep 1000"; }
    SECTION("it prints slowly") { text = "while :; do echo x; sleep 0.01; done"; }
    SECTION("it complains without end") { text = "exec yes >&2"; }
    SECTION("it waits for input") { text = "while ! read line; do sleep 0.1; done"; }
    SECTION("it has children") { text = "sleep 1000 & (sleep 1000 & sleep 1000) & wait"; }
    auto p = program(scripts.script("echo $$ > " + scripts.path("number") + "\n" + text));
    p.timeout = 300ms;
    const Stopwatch watch;
    const Result result = run(p);
    CHECK(result.end == End::timed_out);
    CHECK(watch.below(10s));
    const std::string number = scripts.read("number");
    CHECK_FALSE(is_running(number.substr(0, number.size() - 1)));
}

TEST_CASE("ProgramRunner: a child with the output still open delays no result, and is killed") {
    const Scripts scripts;
    const Stopwatch watch;
    const Result result = run(program(
        scripts.script("sleep 1000 &\necho $! > " + scripts.path("number") + "\necho done")));
    CHECK(watch.below(10s));
    CHECK(result.end == End::exited);
    CHECK(result.output == "done\n");
    const std::string number = scripts.read("number");
    CHECK(wait_until([&] { return !is_running(number.substr(0, number.size() - 1)); }));
}

TEST_CASE("ProgramRunner: one that prints too much is killed, and its output stays small") {
    const Result result = run_script("head -c 10000000 /dev/zero; sleep 1000");
    CHECK(result.end == End::too_much_output);
    CHECK(result.output.size() <= 1 << 20);
    CHECK(run_script("head -c 1048576 /dev/zero").output.size() == 1 << 20);
}

TEST_CASE("ProgramRunner: an unwanted program is killed at once") {
    const Scripts scripts;
    const auto before = open_descriptors();
    std::promise<Result> promise;
    auto running = system_program_runner()->async_run(
        program(scripts.script("echo $$ > " + scripts.path("new") + "; mv " + scripts.path("new") +
                               " " + scripts.path("number") + "; sleep 1000")),
        [&](Result result) { promise.set_value(std::move(result)); });
    REQUIRE(wait_until([&] { return !scripts.read("number").empty(); }));
    running.reset();
    const Result result = promise.get_future().get();
    CHECK(result.end == End::killed);
    CHECK(result.code == SIGKILL);
    const std::string number = scripts.read("number");
    CHECK_FALSE(is_running(number.substr(0, number.size() - 1)));
    CHECK(open_descriptors() == before);
}

TEST_CASE("ProgramRunner: a program unwanted before its start is not started") {
    const Scripts scripts;
    const std::string path = scripts.script("echo > " + scripts.path("ran") + "; sleep 0.2");
    // More than may run at the same time.
    std::vector<std::promise<Result>> promises(20);
    std::vector<std::shared_ptr<void>> running;
    for (auto& promise : promises) {
        running.push_back(system_program_runner()->async_run(
            program(path), [&](Result result) { promise.set_value(std::move(result)); }));
    }
    running.clear();
    for (auto& promise : promises) {
        const Result result = promise.get_future().get();
        CHECK(result.end == End::killed);
    }
}

TEST_CASE("ProgramRunner: programs that hang delay no other one") {
    const Scripts scripts;
    ProgramRunner::Program other =
        program(scripts.script("if [ $# = 1 ]; then sleep 1000; fi; echo fine"));
    ProgramRunner::Program hanging = other;
    hanging.args = {"hangs"};
    std::vector<std::promise<Result>> promises(40);
    std::vector<std::shared_ptr<void>> running;
    for (auto& promise : promises) {
        running.push_back(system_program_runner()->async_run(
            hanging, [&](Result result) { promise.set_value(std::move(result)); }));
    }
    std::promise<Result> answer;
    const auto wanted = system_program_runner()->async_run(
        other, [&](Result result) { answer.set_value(std::move(result)); });
    CHECK(answer.get_future().get().output == "fine\n");
    running.clear();
    for (auto& promise : promises) CHECK(promise.get_future().get().end == End::killed);
}

TEST_CASE("ProgramRunner: any number of different programs that hang again delay no other one") {
    const Scripts scripts;
    ProgramRunner::Program other =
        program(scripts.script("if [ $# = 1 ]; then sleep 1000; fi; echo fine"));
    const auto hanging = [&](int number, Duration timeout, std::promise<Result>& promise) {
        ProgramRunner::Program one = other;
        one.args = {std::to_string(number)};
        one.timeout = timeout;
        return system_program_runner()->async_run(
            one, [&](Result result) { promise.set_value(std::move(result)); });
    };
    const auto answered = [&] {
        std::promise<Result> answer;
        const auto wanted = system_program_runner()->async_run(
            other, [&](Result result) { answer.set_value(std::move(result)); });
        return answer.get_future().get().output;
    };
    std::vector<std::promise<Result>> first(40);
    std::vector<std::shared_ptr<void>> running;
    for (int i = 0; i < 40; ++i) running.push_back(hanging(i, 100ms, first[std::size_t(i)]));
    // Their timeouts end them.
    CHECK(answered() == "fine\n");
    for (auto& promise : first) CHECK(promise.get_future().get().end == End::timed_out);
    std::vector<std::promise<Result>> again(40);
    for (int i = 0; i < 40; ++i) running.push_back(hanging(i, 20s, again[std::size_t(i)]));
    CHECK(answered() == "fine\n");
    running.clear();
    // All of them were running, or waiting.
    for (auto& promise : again) CHECK(promise.get_future().get().end == End::killed);
}

TEST_CASE("ProgramRunner: a host that ignores SIGCHLD gets what is printed all the same") {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction previous {};
    ::sigaction(SIGCHLD, &ignore, &previous);
    const Scripts scripts;
    const Result result = run(program(scripts.script("sleep 1000 <&- >&- 2>&- & echo $! > " +
                                                     scripts.path("number") + "; echo printed")));
    ::sigaction(SIGCHLD, &previous, nullptr);
    CHECK(result.end == End::exited);
    CHECK(result.code == 0);
    CHECK(result.output == "printed\n");
    // And its leftover child is killed.
    const std::string number = scripts.read("number");
    CHECK(wait_until([&] { return !is_running(number.substr(0, number.size() - 1)); }));
}

TEST_CASE("ProgramRunner: a child of the host stays the host's") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(7);
    std::promise<Result> promise;
    const Scripts scripts;
    const auto running =
        system_program_runner()->async_run(program(scripts.script("echo")), [&](Result result) {
            promise.set_value(std::move(result));
        });
    promise.get_future().get();
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("ProgramRunner: a fork of the host does not kill what belongs to the host") {
    const Scripts scripts;
    REQUIRE(::mkfifo(scripts.path("fifo").c_str(), 0600) == 0);
    std::promise<Result> promise;
    auto running = system_program_runner()->async_run(
        program(scripts.script("echo > " + scripts.path("began") + "; read line < " +
                               scripts.path("fifo") + "; echo done")),
        [&](Result result) { promise.set_value(std::move(result)); });
    REQUIRE(wait_until([&] { return !scripts.read("began").empty(); }));
    const pid_t child = ::fork();
    if (child == 0) {
        running.reset();
        ::_exit(0);
    }
    CHECK(::waitpid(child, nullptr, 0) == child);
    scripts.write("fifo", "line\n");
    CHECK(promise.get_future().get().output == "done\n");
}

TEST_CASE("ProgramRunner: works where the host has closed its standard streams") {
    const Scripts scripts;
    const std::string path = scripts.script("cat; echo out; echo err >&2");
    const pid_t child = ::fork();
    if (child == 0) {
        for (const int number : {0, 1, 2}) ::close(number);
        auto* promise = new std::promise<Result>;
        const auto running = system_program_runner()->async_run(
            program(path), [promise](Result result) { promise->set_value(std::move(result)); });
        const Result result = promise->get_future().get();
        ::_exit(result.output == "out\n" && result.errors == "err\n" ? 0 : 1);
    }
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
