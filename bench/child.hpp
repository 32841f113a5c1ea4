#pragma once

#include <sys/types.h>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace bench {

/// A child process of a benchmark, so that the figures of this process exclude its work.
struct Child {
    pid_t process = -1;
    int input = -1;  ///< bytes written here reach the child
};
/// Ends the process.
void stop(const Child&);

/// Runs `serve` in a child process, which ignores SIGPIPE and ends with it. Returns after
/// write_report().
/// \throws std::runtime_error if the process ends without a report
Child start_child(const std::function<void(int input, int output)>& serve, void* report,
                  std::size_t size);
/// Writes the report of a child process.
void write_report(int output, const void* report, std::size_t size);

/// The same with a value as report.
/// \param serve  called with `input`, and a function that writes the report
template <class Report, class Serve>
Child start_child(Report& report, const Serve& serve) {
    static_assert(std::is_trivially_copyable_v<Report>);
    return start_child(
        [&serve](int input, int output) {
            serve(input,
                  [output](const Report& made) { write_report(output, &made, sizeof made); });
        },
        &report, sizeof report);
}

}  // namespace bench
