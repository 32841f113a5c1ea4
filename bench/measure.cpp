#include "measure.hpp"

#include "child.hpp"

#include <sys/resource.h>
#include <cstdlib>
#include <ctime>
#include <fstream>

namespace bench {

std::size_t argument(int argc, char** argv, int index, std::size_t fallback) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : fallback;
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

namespace {

double seconds_on(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double memory_of(const std::string& process, const std::string& field) {
    std::ifstream status("/proc/" + process + "/status");
    for (std::string name; status >> name;) {
        if (name != field + ":") continue;
        double kb = 0;
        status >> kb;
        return kb / 1024;
    }
    return 0;
}

}  // namespace

double thread_cpu_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }

double cpu_seconds_of(pid_t process) {
    clockid_t clock{};
    if (clock_getcpuclockid(process, &clock) != 0) std::abort();
    return seconds_on(clock);
}

double memory_mb(const std::string& field) { return memory_of("self", field); }

double memory_mb_of(pid_t process, const std::string& field) {
    return memory_of(std::to_string(process), field);
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

void in_process(void (*measure)(const void* context, void* result), const void* context,
                void* result, std::size_t size) {
    stop(start_child(
        [&](int, int output) {
            measure(context, result);
            write_report(output, result, size);
        },
        result, size));
}

}  // namespace bench
