#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// A timer with one wait at a time. After `cancel()`, a new `expires_at()` or the destruction (each
/// on the timer's executor) the previous handler is not called any more.
class K8S_SD_EXPORT Timer {
 public:
    virtual ~Timer() = default;
    /// Calls `handler` on the timer's executor, as if by post, once `when` is reached.
    virtual void expires_at(TimePoint when, std::function<void()> handler) = 0;
    /// Drops the pending handler, if any.
    virtual void cancel() noexcept = 0;
};

/// The only source of time, replaceable for tests.
class K8S_SD_EXPORT Clock {
 public:
    virtual ~Clock() = default;
    /// The current time. May be called from any thread.
    virtual TimePoint now() const noexcept = 0;
    /// A timer that calls its handlers on this executor. May be called from any thread.
    virtual std::unique_ptr<Timer> make_timer(asio::any_io_executor) = 0;
};

struct Metrics;

/// A byte stream: TCP, TLS or in memory. At most one connect or read and one write are
/// outstanding. Handlers are called on the stream's executor, as if by post. After `close()`
/// outstanding handlers are called with asio::error::operation_aborted; the stream may be
/// destroyed at any time, which closes it.
class K8S_SD_EXPORT ByteStream {
 public:
    /// The text explains an error (for TLS: the defect of the certificate).
    using ConnectHandler = std::function<void(error_code, std::string)>;
    /// The number of bytes read or written.
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
    /// The step a pending async_connect() waits for, such as "the answer of the proxy
    /// http://proxy:3128": for messages about timeouts. Empty: unknown.
    virtual std::string waits_for() const { return {}; }
    /// Called before async_connect(): the caller can use HTTP/2 as well as HTTP/1.1, so offer both
    /// to the server by ALPN (RFC 7301). A stream without TLS, or without this function, connects
    /// as usual.
    virtual void offer_http2() {}
    /// Whether the server has chosen HTTP/2. Asked once the stream is connected.
    virtual bool uses_http2() const { return false; }
};

/// A proxy that connects to the target's host and port; afterwards the connection is used as
/// without a proxy.
struct ProxyTarget {
    /// Protocol of the request to connect.
    enum class Protocol : std::uint8_t {
        http,   ///< HTTP CONNECT
        https,  ///< the same within TLS
        socks5  ///< RFC 1928; the proxy resolves names
    };
    Protocol protocol = Protocol::http;         ///< see above
    std::string host{};                         ///< name or IP literal without brackets
    std::string port{};                         ///< decimal
    std::string username{};                     ///< empty together with the password: none
    std::string password{};                     ///< Basic (RFC 7617), or RFC 1929 for SOCKS5
    std::vector<HttpHeader> connect_headers{};  ///< for CONNECT; values, not files
    /// For https: certificates trusted in addition to the system's trust store. There is no client
    /// certificate, and the proxy's certificate must be valid for `host`.
    TlsConfig tls{};
};

/// The target of a connection. `tls` is empty for plain HTTP.
struct ConnectTarget {
    std::string host{};                  ///< name or IP literal without brackets
    std::string port{};                  ///< decimal
    std::optional<TlsConfig> tls{};      ///< nullopt: plain HTTP
    std::optional<ProxyTarget> proxy{};  ///< nullopt: direct connection
};

/// Makes unconnected streams. Thread-safe.
class K8S_SD_EXPORT Connector {
 public:
    virtual ~Connector() = default;
    /// An unconnected stream for this target, with this executor. Does no I/O.
    virtual std::unique_ptr<ByteStream> make_stream(asio::any_io_executor,
                                                    const ConnectTarget&) = 0;
};

/// Resolves the names of servers. Thread-safe.
class K8S_SD_EXPORT Resolver {
 public:
    /// The addresses, best first, or an error. Called once, on any thread, also from within
    /// async_resolve(); at any time, possibly after the destruction of the caller's context.
    using Handler = std::function<void(error_code, std::vector<asio::ip::address>)>;

    virtual ~Resolver() = default;
    /// Starts a lookup of `host`, a name and never an address. Must not block. There is no
    /// cancellation: the handler may be called after its caller lost interest. The library makes
    /// one call for all concurrent lookups of a name in one context, and a new one for each new
    /// connection.
    virtual void async_resolve(const std::string& host, Handler) = 0;
};

/// Runs the reads of token, password and certificate files, which may block indefinitely on a
/// network file system. Thread-safe.
class K8S_SD_EXPORT FileCalls {
 public:
    virtual ~FileCalls() = default;
    /// Arranges for `call` to be called once, on any thread, also from within run(); at any time,
    /// possibly after the destruction of the caller's context. `call` blocks and does not throw.
    /// \return false if it will not be called
    virtual bool run(std::function<void()> call) = 0;
};

/// Runs programs that print credentials, such as the exec plugins of kubeconfigs. Thread-safe.
/// async_run() is called on strands of the library, whenever credentials are needed: the one of
/// system_program_runner() then reads the environment of the process. Reading a kubeconfig again
/// reads the proxy variables. So a host must not change its environment, as by setenv(), while any
/// part of the library is running.
class K8S_SD_EXPORT ProgramRunner {
 public:
    /// A variable of a program's environment: name and value.
    using Variable = std::pair<std::string, std::string>;
    /// The program to run and its limits.
    struct Program {
        std::string command{};              ///< searched in PATH if it has no slash
        std::vector<std::string> args{};    ///< without the program's name
        std::vector<Variable> variables{};  ///< added to the environment of this process
        Duration timeout{};                 ///< then it is killed
        std::size_t max_output = 0;         ///< bytes; a program with more output is killed
    };
    /// The outcome of a run.
    struct Result {
        /// `not_found`: there is no such program; `not_allowed`: permission to execute it is
        /// missing; `not_started`: any other failure to start it.
        enum class End : std::uint8_t {
            exited,
            killed,
            timed_out,
            too_much_output,
            not_found,
            not_allowed,
            not_started
        };
        End end = End::exited;  ///< see above
        int code = 0;           ///< exit status, or number of the fatal signal
        std::string output{};   ///< standard output; overwritten by the library after use
        std::string errors{};   ///< the first few KiB of standard error
        std::string detail{};   ///< the search path, or why it was not started
    };
    /// Called once, on any thread, also from within async_run(); at any time, possibly after the
    /// destruction of the caller's context.
    using Handler = std::function<void(Result)>;

    virtual ~ProgramRunner() = default;
    /// Runs a program without terminal and input. Must not block.
    /// \return a handle: destroying its last copy kills the program and waives the call of the
    ///         handler
    [[nodiscard]] virtual std::shared_ptr<void> async_run(Program, Handler) = 0;
};

K8S_SD_EXPORT std::shared_ptr<Clock> system_clock();  ///< steady clock, Asio timers
/// getaddrinfo() in at most 8 threads of the process, started for lookups and ended after them.
/// Nothing waits for these threads: neither run(), nor the end of a context, nor that of the
/// process.
K8S_SD_EXPORT std::shared_ptr<Resolver> system_resolver();
/// At most 32 threads of the process, started for reads of files and ended after them. Nothing
/// waits for them, as with system_resolver().
K8S_SD_EXPORT std::shared_ptr<FileCalls> system_file_calls();
/// Child processes, each in a session of its own, without input, and with no inherited descriptor
/// except two pipes. When a program ends, all other processes of its session are killed. At most 2
/// equal ones run at a time, and 32 in the process, so the hanging program of a cluster does not
/// delay those of others. Each has a thread; nothing waits for it, as with system_resolver().
/// After 30 s of waiting for a free slot, a program is not started. Installs no signal handler, and
/// reaps no child of the host.
K8S_SD_EXPORT std::shared_ptr<ProgramRunner> system_program_runner();
K8S_SD_EXPORT std::shared_ptr<Connector> system_connector();  ///< TCP sockets, OpenSSL

/// Limits of the concurrent requests to one server from one execution context. A LIST or a new
/// connection beyond the limit waits for a permit; a URL without a permit for its WATCH is listed
/// every WatchOptions::poll_interval instead. The status says so. A LIST waits two minutes at most,
/// and passes its permit on after five, so that stalled ones do not block the others.
struct ServerLimits {
    std::size_t concurrent_lists = 8;  ///< LISTs in progress; zero: no limit
    std::size_t watches = 512;         ///< open WATCHes; zero: no limit
    /// Connections being established: name lookup, TCP, proxy and TLS; zero: no limit. Timeouts
    /// begin with the attempt. An eighth is reserved for short requests; these also go first.
    std::size_t concurrent_connects = 32;
    /// Watches that share a connection by HTTP/2, so the number that a broken connection interrupts
    /// at a time; zero: as many as the server permits, less a tenth for short requests.
    std::size_t max_watches_per_connection = 100;
};

/// The library's external dependencies, one per execution context.
struct Environment {
    std::shared_ptr<Clock> clock{};             ///< null: system_clock()
    std::shared_ptr<Connector> connector{};     ///< null: system_connector(*this)
    std::shared_ptr<Resolver> resolver{};       ///< null: system_resolver()
    std::shared_ptr<FileCalls> file_calls{};    ///< null: system_file_calls()
    std::shared_ptr<ProgramRunner> programs{};  ///< null: system_program_runner()
    std::shared_ptr<Metrics> metrics{};         ///< null: a private instance
    Logger logger{};                            ///< receives log lines
    std::uint64_t seed = 0;                     ///< for jitter; 0: from std::random_device
    InClusterFiles in_cluster{};                ///< used without a named server, see resolve()
    ServerLimits limits{};                      ///< limits of each server
};

/// The same with the clock, the resolver, the file calls and the logger of an environment. Logs
/// certificate or key files found invalid while their previous content stays in use.
K8S_SD_EXPORT std::shared_ptr<Connector> system_connector(const Environment&);

/// Sets the environment of `context`. Must be called before the first Discoverer on it is created,
/// and before metrics_of().
/// \throws asio::service_already_exists if called too late; what() names the remedy.
K8S_SD_EXPORT void install(asio::execution_context& context, Environment);

/// The metrics of `context`; see Environment::metrics. Thread-safe.
K8S_SD_EXPORT std::shared_ptr<Metrics> metrics_of(asio::execution_context& context);

/// The usage of each API server with a client in `context`, by URL. Thread-safe.
K8S_SD_EXPORT std::vector<ServerUsage> server_usage(asio::execution_context& context);

}  // namespace k8s_sd::inline v0
