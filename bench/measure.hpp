#pragma once

#include <sys/types.h>
#include <cstddef>
#include <string>
#include <type_traits>

/// Process costs, and the command-line arguments of benchmarks.
namespace bench {

/// A number from the command line; `fallback` if it is missing.
std::size_t argument(int argc, char** argv, int index, std::size_t fallback);

/// User and system time of this process so far.
double cpu_seconds();
/// The same for this thread alone, precise enough for a single handler.
double thread_cpu_seconds();
/// The same for another process.
double cpu_seconds_of(pid_t process);
/// A field of /proc/self/status: "VmRSS" resident memory, "VmHWM" its peak.
double memory_mb(const std::string& field);
/// The same for another process.
double memory_mb_of(pid_t process, const std::string& field);
void reset_peak();

/// Runs `measure` in a child process, so that the figures exclude other work, and copies its result
/// into `result`.
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
