#pragma once

#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/environment.hpp"

#include <signal.h>
#include <sys/types.h>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A program waiting longer than this for a thread is not started.
constexpr Duration max_program_queue_time = std::chrono::seconds(30);

/// One run of a program. The thread in run() waits for it; any thread may kill it.
class ChildProcess {
 public:
    /// Copies the environment of this process on the caller's strand, long after resolve(). No
    /// thread of the host may change it meanwhile.
    explicit ChildProcess(ProgramRunner::Program);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Blocks until the program has ended or was killed, and has been reaped.
    ProgramRunner::Result run();
    /// Kills the program and its session; prevents a start still pending. Blocks briefly during a
    /// start.
    void kill() noexcept;

 private:
    class Pipe;
    class Reaper;

    std::string find();
    ProgramRunner::Result start(const std::string& path, const Pipe& output, const Pipe& errors);
    void supervise(Pipe& output, Pipe& errors, ProgramRunner::Result&);
    bool ended(ProgramRunner::Result&) noexcept;
    bool query_exit(siginfo_t&, int options) noexcept;
    void reap() noexcept;

    ProgramRunner::Program program_;
    const pid_t process_;  ///< at construction: a forked host must not kill the child
    std::vector<CleansedBytes> environment_;  ///< each NUL-terminated
    std::string search_path_;
    CleansedBytes output_;
    std::string errors_;
    std::mutex mutex_;  // guards the members below: the PID of a reaped child may be reused
    pid_t child_ = 0;   ///< 0: none
    bool killed_ = false;
    bool starting_ = false;            ///< a child has no known PID yet
    std::condition_variable started_;  ///< the start has ended, successful or not
};

}  // namespace k8s_sd::inline v0::detail
