#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/logger.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

struct Metrics;

/// A connection of bytes: TCP, TLS or in memory. At most one connect or read and one write are
/// outstanding. Handlers are called on the stream's executor, as if by post. After `close()`
/// outstanding handlers are called with asio::error::operation_aborted; the stream may be
/// destroyed at any time, which closes it.
class K8S_SD_EXPORT ByteStream {
 public:
    /// The text explains an error (for TLS: what about the certificate is wrong).
    using ConnectHandler = std::function<void(error_code, std::string)>;
    /// The number of bytes that were read or written.
    using IoHandler = std::function<void(error_code, std::size_t)>;

    virtual ~ByteStream() = default;
    /// Connects, for TLS including the handshake and the check of the certificate.
    virtual void async_connect(ConnectHandler) = 0;
    /// Reads at least one byte, at most what fits; asio::error::eof at the end.
    virtual void async_read_some(asio::mutable_buffer, IoHandler) = 0;
    /// Writes the whole buffer; the memory must stay valid until the handler is called.
    virtual void async_write(asio::const_buffer, IoHandler) = 0;
    /// Ends the connection at once.
    virtual void close() noexcept = 0;
};

/// Where to connect. `tls` is empty for plain HTTP.
struct ConnectTarget {
    std::string host;              ///< name or IP literal without brackets
    std::string port;              ///< decimal
    std::optional<TlsConfig> tls;  ///< none: plain HTTP
};

/// Makes unconnected streams. Thread-safe.
class K8S_SD_EXPORT Connector {
 public:
    virtual ~Connector() = default;
    /// An unconnected stream to that target, with that executor. No I/O happens here.
    virtual std::unique_ptr<ByteStream> make_stream(asio::any_io_executor,
                                                    const ConnectTarget&) = 0;
};

K8S_SD_EXPORT std::shared_ptr<Clock> system_clock();          ///< steady clock, Asio timers
K8S_SD_EXPORT std::shared_ptr<Connector> system_connector();  ///< TCP sockets, OpenSSL

/// What is asked of one server at a time by everything that works in one execution context.
/// What exceeds it waits for its turn.
struct ServerLimits {
    std::size_t concurrent_lists = 8;  ///< LISTs under way; zero: no limit
    std::size_t watches = 512;         ///< WATCHes open, each a connection; zero: no limit
};

/// Everything the library takes from outside, one per execution context.
struct Environment {
    std::shared_ptr<Clock> clock{};          ///< null: system_clock()
    std::shared_ptr<Connector> connector{};  ///< null: system_connector()
    std::shared_ptr<Metrics> metrics{};      ///< null: a private instance
    Logger logger{};                         ///< where log lines go
    std::uint64_t seed = 0;                  ///< for jitter; 0: from std::random_device
    InClusterFiles in_cluster{};             ///< where no server is named, see resolve()
    ServerLimits limits{};                   ///< of each server
};

/// Sets the environment of `context`; call it before the first Discoverer on it is made, and before
/// metrics_of().
/// \throws asio::service_already_exists when it comes too late.
K8S_SD_EXPORT void install(asio::execution_context& context, Environment);

/// The metrics of `context`; see Environment::metrics. Thread-safe.
K8S_SD_EXPORT std::shared_ptr<Metrics> metrics_of(asio::execution_context& context);

}  // namespace k8s_sd::inline v0
