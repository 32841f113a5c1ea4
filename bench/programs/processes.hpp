#pragma once

#include <sys/types.h>
#include <cstddef>
#include <filesystem>
#include <string>

namespace bench {

/// An HTTP server in a child process, which ends with this object.
class ServerProcess {
 public:
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    ~ServerProcess();

    unsigned short port() const noexcept { return port_; }
    double cpu_seconds() const;
    /// \param field  see bench::memory_mb()
    double memory_mb(const std::string& field = "VmRSS") const;

 protected:
    ServerProcess() = default;

    pid_t process_ = -1;
    unsigned short port_ = 0;
};

/// The program k8s-sd.
class K8sSd : public ServerProcess {
 public:
    /// Returns once all jobs are complete. \param config  the text of its configuration file
    explicit K8sSd(const std::string& config);
    ~K8sSd();

    /// Requests all shards of the relabelled list, so that the program keeps them. \returns their
    /// bytes
    std::size_t ask_for_shards(const std::string& job, std::size_t shards) const;

 private:
    const std::filesystem::path config_;
};

/// The server of k8s-sd, with one response for everything.
class FixedServer : public ServerProcess {
 public:
    explicit FixedServer(std::size_t body_bytes);
};

}  // namespace bench
