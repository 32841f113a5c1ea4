#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
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

/// A program that cannot be started for so long, because others run, is not started.
constexpr Duration longest_program_queue = std::chrono::seconds(30);

/// One run of a program: the thread that calls run() waits for it, everybody may kill it.
class ChildProcess {
 public:
    /// Copies the environment of this process: on the strand of the caller, long after resolve().
    /// No thread of the host may change it meanwhile.
    explicit ChildProcess(ProgramRunner::Program);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Blocks until the program has ended, or was killed, and is no zombie any more.
    ProgramRunner::Result run();
    /// Kills it with all it has started in its session; if it has not begun, it never will. Blocks
    /// for a moment while it is being started.
    void kill() noexcept;

 private:
    class Pipe;
    class Reaper;

    std::string find();
    ProgramRunner::Result start(const std::string& path, const Pipe& output, const Pipe& errors);
    void supervise(Pipe& output, Pipe& errors, ProgramRunner::Result&);
    bool ended(ProgramRunner::Result&) noexcept;
    bool look(siginfo_t&, int options) noexcept;
    void reap() noexcept;

    ProgramRunner::Program program_;
    const pid_t process_;  ///< this one; a fork of the host must not kill what is not its child
    std::vector<CleansedBytes> environment_;  ///< each with its end of text
    std::string search_path_;
    CleansedBytes output_;
    std::string errors_;
    std::mutex mutex_;  // guards what follows: the number of a child that was reaped is another's
    pid_t child_ = 0;   ///< 0: there is none
    bool killed_ = false;
    bool starting_ = false;            ///< a child of which the number is not known yet
    std::condition_variable started_;  ///< or not, but no longer starting
};

}  // namespace k8s_sd::inline v0::detail
