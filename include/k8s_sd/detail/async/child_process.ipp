#include "k8s_sd/detail/async/child_process.hpp"
#include "k8s_sd/detail/base/secrets.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using End = ProgramRunner::Result::End;

constexpr std::size_t max_program_error_bytes = 4096;
constexpr std::size_t program_chunk = 16 * 1024;
constexpr int max_program_chunks = 64;  // more than the capacity of a pipe
/// Polling interval for the end of a program, if a descendant keeps its output open. The library
/// installs no signal handler.
constexpr int program_poll_interval = 20;  // ms
/// How long kill() waits for the PID of a starting program.
constexpr std::chrono::milliseconds max_start_time{500};
constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";

std::string errno_text(int number) {
    return error_code(number, boost::system::system_category()).message();
}

bool is_program(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

std::vector<CleansedBytes> environment_with(const std::vector<ProgramRunner::Variable>& added) {
    std::vector<CleansedBytes> result;
    const auto add = [&result](std::initializer_list<std::string_view> parts) {
        CleansedBytes& entry = result.emplace_back();
        for (const std::string_view part : parts) append(entry, part);
        entry.push_back('\0');
    };
    const auto is_added = [&](std::string_view entry) {
        return std::any_of(added.begin(), added.end(), [&](const auto& variable) {
            return entry.substr(0, entry.find('=')) == variable.first;
        });
    };
    for (char** entry = ::environ; entry && *entry; ++entry) {
        if (!is_added(*entry)) add({*entry});
    }
    // As in Go, the last value of a name wins.
    for (auto it = added.begin(); it != added.end(); ++it) {
        const bool later = std::any_of(it + 1, added.end(),
                                       [&](const auto& other) { return other.first == it->first; });
        if (!later) add({it->first, "=", it->second});
    }
    return result;
}

template <class Text>
std::vector<char*> pointers_to(std::vector<Text>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (Text& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// Attributes for posix_spawn(): a new session, default signals, three descriptors.
class SpawnRules {
 public:
    SpawnRules(int output, int errors) {
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawn_file_actions_init(&actions_);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                     POSIX_SPAWN_SETSID);
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
        close_others();
    }
    ~SpawnRules() {
        ::posix_spawnattr_destroy(&attributes_);
        ::posix_spawn_file_actions_destroy(&actions_);
    }
    SpawnRules(const SpawnRules&) = delete;
    SpawnRules& operator=(const SpawnRules&) = delete;

    int spawn(pid_t& child, const std::string& path, std::vector<std::string>& arguments,
              std::vector<CleansedBytes>& environment) const {
        return ::posix_spawn(&child, path.c_str(), &actions_, &attributes_,
                             pointers_to(arguments).data(), pointers_to(environment).data());
    }

 private:
    /// The library's descriptors are close-on-exec; those of the host may not be.
    void close_others() noexcept {
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
#endif
    }

    posix_spawnattr_t attributes_;
    posix_spawn_file_actions_t actions_;
};

}  // namespace

class ChildProcess::Pipe {
 public:
    /// Both ends get numbers above the standard streams, in case the host has closed those.
    Pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
        for (int& end : ends_) {
            if (end < 0 || end > STDERR_FILENO) continue;
            const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
            ::close(std::exchange(end, moved));
        }
        if (ends_[0] >= 0) ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    }
    ~Pipe() {
        close_reading();
        close_writing();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    bool is_open() const noexcept { return ends_[0] >= 0 && ends_[1] >= 0; }
    int reading() const noexcept { return ends_[0]; }
    int writing() const noexcept { return ends_[1]; }
    void close_reading() noexcept { close(ends_[0]); }
    void close_writing() noexcept { close(ends_[1]); }

    /// Passes the available bytes to `take`, with a limit because output may be endless; closes the
    /// pipe at its end.
    template <class Take>
    void drain(const Take& take) {
        CleansedBytes chunk(program_chunk);
        for (int i = 0; i < max_program_chunks && ends_[0] >= 0; ++i) {
            const ssize_t n = ::read(ends_[0], chunk.data(), chunk.size());
            if (n > 0) {
                if (!take(std::string_view(chunk.data(), static_cast<std::size_t>(n)))) return;
            } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
                return close_reading();
            } else if (errno == EAGAIN) {
                return;
            }
        }
    }

 private:
    static void close(int& end) noexcept {
        if (end >= 0) ::close(std::exchange(end, -1));
    }

    std::array<int, 2> ends_{-1, -1};
};

/// Reaps the child even if an exception is thrown.
class ChildProcess::Reaper {
 public:
    explicit Reaper(ChildProcess& child) : child_(child) {}
    ~Reaper() { child_.reap(); }
    Reaper(const Reaper&) = delete;
    Reaper& operator=(const Reaper&) = delete;

 private:
    ChildProcess& child_;
};

ChildProcess::ChildProcess(ProgramRunner::Program program)
    : program_(std::move(program)),
      process_(::getpid()),
      environment_(environment_with(program_.variables)) {
    const char* path = std::getenv("PATH");
    search_path_ = path && *path ? path : usual_path;
}

ChildProcess::~ChildProcess() {
    for (auto& [name, value] : program_.variables) cleanse(value.data(), value.size());
}

/// The path of the program; empty: not in PATH.
std::string ChildProcess::find() {
    if (program_.command.find('/') != std::string::npos) return program_.command;
    std::string_view rest = search_path_;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        // As in Go, the current directory is never searched.
        const std::string folder(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::string path = folder + "/" + program_.command;
        if (folder.starts_with('/') && is_program(path)) return path;
    }
    return {};
}

ProgramRunner::Result ChildProcess::run() {
    Pipe output;
    Pipe errors;
    ProgramRunner::Result result;
    if (!output.is_open() || !errors.is_open()) {
        result.end = End::not_started;
        result.detail = errno_text(errno);
        return result;
    }
    const std::string path = find();
    if (path.empty()) {
        result.end = End::not_found;
        result.detail = "not in PATH (" + search_path_ + ")";
        return result;
    }
    result = start(path, output, errors);
    if (result.end != End::exited) return result;
    output.close_writing();
    errors.close_writing();
    {
        const Reaper reaper(*this);
        supervise(output, errors, result);
    }
    // One copy of exact size: the output may contain a token.
    result.output.assign(output_.data(), output_.size());
    result.errors = std::move(errors_);
    return result;
}

ProgramRunner::Result ChildProcess::start(const std::string& path, const Pipe& output,
                                          const Pipe& errors) {
    ProgramRunner::Result result;
    std::vector<std::string> arguments{program_.command};
    arguments.insert(arguments.end(), program_.args.begin(), program_.args.end());
    {
        const std::lock_guard lock(mutex_);
        if (killed_) {
            result.end = End::killed;
            result.code = SIGKILL;
            return result;
        }
        starting_ = true;
    }
    // Without the lock: the file may be on a hanging file system.
    pid_t child = 0;
    const int error =
        SpawnRules(output.writing(), errors.writing()).spawn(child, path, arguments, environment_);
    {
        const std::lock_guard lock(mutex_);
        starting_ = false;
        child_ = error == 0 ? child : 0;
        if (killed_ && child_ > 0) ::kill(-child_, SIGKILL);
    }
    started_.notify_all();
    if (error == 0) return result;
    result.end = error == ENOENT || error == ENOTDIR ? End::not_found
                 : error == EACCES || error == EPERM ? End::not_allowed
                                                     : End::not_started;
    result.detail = errno_text(error);
    if (error == ENOENT && ::access(path.c_str(), F_OK) == 0) {
        result.end = End::not_started;
        result.detail = "the interpreter that its first line names does not exist";
    } else if (error == ENOEXEC) {
        result.detail = "it is neither a program of this machine nor a script that begins with #!";
    }
    return result;
}

void ChildProcess::supervise(Pipe& output, Pipe& errors, ProgramRunner::Result& result) {
    using Steady = std::chrono::steady_clock;
    const auto deadline = Steady::now() + program_.timeout;
    bool too_much = false;
    const auto take_output = [&](std::string_view part) {
        too_much = output_.size() + part.size() > program_.max_output;
        if (!too_much) append(output_, part);
        return !too_much;
    };
    const auto take_errors = [&](std::string_view part) {
        errors_ += part.substr(0, max_program_error_bytes - errors_.size());
        return true;
    };
    for (int pause = 1;; pause = std::min(pause * 2, program_poll_interval)) {
        const bool over = ended(result);  // its earlier output is in the pipe now
        output.drain(take_output);
        errors.drain(take_errors);
        if (too_much) {
            result.end = End::too_much_output;
        } else if (!over && Steady::now() >= deadline) {
            result.end = End::timed_out;
        }
        if (over || result.end != End::exited) return;
        std::array<pollfd, 2> ends{{{output.reading(), POLLIN, 0}, {errors.reading(), POLLIN, 0}}};
        ::poll(ends.data(), ends.size(), pause);  // negative descriptors are skipped
    }
}

/// Whether the child has ended. It stays a zombie, so its PID is not reused.
bool ChildProcess::ended(ProgramRunner::Result& result) noexcept {
    siginfo_t info{};
    if (!query_exit(info, WNOHANG)) return true;
    if (info.si_pid == 0) return false;
    if (info.si_code != CLD_EXITED) result.end = End::killed;
    result.code = info.si_status;
    return true;
}

/// \returns false if the host has reaped the child, because it ignores SIGCHLD or waits for all
/// children. The exit status is then unknown, and the output decides. The rest of the session is
/// killed now: its process group ID may be reused, but not while a member exists, and not this
/// soon.
bool ChildProcess::query_exit(siginfo_t& info, int options) noexcept {
    for (;;) {
        const pid_t child = child_;  // only this thread changes it
        if (child == 0) return false;
        if (::waitid(P_PID, static_cast<id_t>(child), &info, options | WEXITED | WNOWAIT) == 0) {
            return true;
        }
        if (errno == EINTR) continue;
        const std::lock_guard lock(mutex_);
        ::kill(-child, SIGKILL);
        child_ = 0;
        return false;
    }
}

void ChildProcess::reap() noexcept {
    // Also kills leftover processes of an ended program.
    kill();
    siginfo_t info{};
    if (!query_exit(info, 0)) return;  // without the lock: it may hang in the kernel
    const std::lock_guard lock(mutex_);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
}

void ChildProcess::kill() noexcept {
    if (::getpid() != process_) return;
    std::unique_lock lock(mutex_);
    killed_ = true;
    // The host may exit now, together with the thread that starts and kills the program.
    started_.wait_for(lock, max_start_time, [this] { return !starting_; });
    if (child_ > 0) ::kill(-child_, SIGKILL);
}

}  // namespace k8s_sd::inline v0::detail
