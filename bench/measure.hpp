#pragma once

#include <sys/types.h>
#include <cstddef>
#include <string>
#include <type_traits>

/// What a process costs, and what it is to measure.
namespace bench {

/// A number of the command line; `fallback` where there is none.
std::size_t argument(int argc, char** argv, int index, std::size_t fallback);

/// User and system time of this process so far.
double cpu_seconds();
/// The same of this thread alone, exact enough for a single handler.
double thread_cpu_seconds();
/// That of another process.
double cpu_seconds_of(pid_t process);
/// A field of /proc/self/status: "VmRSS" resident memory, "VmHWM" its peak.
double memory_mb(const std::string& field);
/// The same of another process.
double memory_mb_of(pid_t process, const std::string& field);
void reset_peak();

/// Runs `measure` in a process of its own, so that nothing of others is counted, and copies what
/// it returns into `result`.
void in_process(void (*measure)(const void* context, void* result), const void* context,
                void* result, std::size_t size);

template <class Measure>
auto in_process(const Measure& measure) {
    using Result = decltype(measure());
    static_assert(std::is_trivially_copyable_v<Result>);
    Result result{};
    in_process(
        [](const void* context, void* out) {
            *static_cast<Result*>(out) = (*static_cast<const Measure*>(context))();
        },
        &measure, &result, sizeof result);
    return result;
}

}  // namespace bench
