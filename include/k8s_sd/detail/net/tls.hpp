#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/logger.hpp"

#include <boost/asio/ssl/context.hpp>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// A certificate, key or file that cannot be used. The text names the file, never its content.
struct TlsError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The client's side: TLS 1.2 or later, ALPN "http/1.1", trust and identity as configured.
/// `server_name` does not matter here. Blocks on files.
/// \throws TlsError; an empty or broken CA never means the system's trust store
std::shared_ptr<asio::ssl::context> make_client_context(const TlsConfig&);

/// Contexts by configuration, made again when their files changed. Thread-safe; blocks on files.
class TlsContexts {
 public:
    /// \param logger  is told once when changed files are broken, and once when they are mended
    explicit TlsContexts(Logger logger = {}) : logger_(std::move(logger)) {}

    /// Looks at the files at most once per second. While changed files are broken, the previous
    /// context serves.
    /// \throws TlsError when there is none
    std::shared_ptr<asio::ssl::context> get(const TlsConfig&, TimePoint now);

 private:
    /// SHA-256 of a configuration: the cache must not keep copies of inline keys.
    using Digest = std::array<unsigned char, 32>;
    struct FileStamp {
        std::uintmax_t size = 0;
        std::filesystem::file_time_type modified;
        bool operator==(const FileStamp&) const = default;
    };
    struct Entry {
        std::shared_ptr<asio::ssl::context> context;
        std::vector<FileStamp> stamps;
        TimePoint looked_at;
        TimePoint used_at;
        std::string problem;  ///< that was logged
    };

    static Digest digest(const TlsConfig&);
    static std::vector<FileStamp> look_at_files(const TlsConfig&);
    static void renew(Entry&, const TlsConfig&);

    void report(Entry&, const TlsConfig&, std::string problem) const;

    const Logger logger_;
    std::mutex mutex_;
    std::map<Digest, Entry> entries_;
};

}  // namespace k8s_sd::inline v0::detail
