#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/logger.hpp"

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
    /// What an async_connect() that has not ended waits for, such as "the answer of the proxy
    /// http://proxy:3128": for messages about time limits. Empty: nothing is known.
    virtual std::string waits_for() const { return {}; }
};

/// A proxy. It is asked to connect to the target's host and port; what follows is as without it.
struct ProxyTarget {
    /// How it is asked.
    enum class Protocol : std::uint8_t {
        http,   ///< HTTP CONNECT
        https,  ///< the same within TLS
        socks5  ///< RFC 1928; it looks names up
    };
    Protocol protocol = Protocol::http;         ///< see there
    std::string host{};                         ///< name or IP literal without brackets
    std::string port{};                         ///< decimal
    std::string username{};                     ///< empty like the password: no credentials
    std::string password{};                     ///< Basic (RFC 7617), or RFC 1929 for SOCKS5
    std::vector<HttpHeader> connect_headers{};  ///< of CONNECT; values, not files
    /// Of https: what is trusted besides the system's trust store. There is no client certificate,
    /// and the certificate must be for `host`.
    TlsConfig tls{};
};

/// Where to connect. `tls` is empty for plain HTTP.
struct ConnectTarget {
    std::string host{};                  ///< name or IP literal without brackets
    std::string port{};                  ///< decimal
    std::optional<TlsConfig> tls{};      ///< none: plain HTTP
    std::optional<ProxyTarget> proxy{};  ///< none: the direct way
};

/// Makes unconnected streams. Thread-safe.
class K8S_SD_EXPORT Connector {
 public:
    virtual ~Connector() = default;
    /// An unconnected stream to that target, with that executor. No I/O happens here.
    virtual std::unique_ptr<ByteStream> make_stream(asio::any_io_executor,
                                                    const ConnectTarget&) = 0;
};

/// Looks the names of servers up. Thread-safe.
class K8S_SD_EXPORT Resolver {
 public:
    /// The addresses, best first, or an error. Called once, on any thread, also from within
    /// async_resolve(); at any time, also when the context of those who asked is gone.
    using Handler = std::function<void(error_code, std::vector<asio::ip::address>)>;

    virtual ~Resolver() = default;
    /// Begins a lookup of `host`, which is a name and not an address. Must not block. There is no
    /// cancellation: nobody may listen any more when the handler is called. The library asks once
    /// for all who wait for a name in one context, and asks again for each new connection.
    virtual void async_resolve(const std::string& host, Handler) = 0;
};

/// Where files of tokens, passwords and certificates are read: on a network file system that may
/// never answer. Thread-safe.
class K8S_SD_EXPORT FileCalls {
 public:
    virtual ~FileCalls() = default;
    /// Has `call` called once, on any thread, also from within run(); at any time, also when the
    /// context of those who wait is gone. `call` blocks and does not throw.
    /// \return false if it will not be called
    virtual bool run(std::function<void()> call) = 0;
};

/// Runs programs that print credentials, such as the exec plugins of kubeconfigs. Thread-safe.
/// async_run() is called on strands of the library, whenever credentials are needed: that of
/// system_program_runner() reads the environment of the process then. A kubeconfig that is read
/// again looks at the variables of proxies. So a host must not change its environment, as by
/// setenv(), while anything of the library works.
class K8S_SD_EXPORT ProgramRunner {
 public:
    /// A variable of a program's environment: name and value.
    using Variable = std::pair<std::string, std::string>;
    /// What is to run, and how far it may go.
    struct Program {
        std::string command{};              ///< looked for in PATH if it has no slash
        std::vector<std::string> args{};    ///< without the program's name
        std::vector<Variable> variables{};  ///< added to the environment of this process
        Duration timeout{};                 ///< it is killed after that
        std::size_t most_output = 0;        ///< bytes; it is killed when it prints more
    };
    /// How it ended.
    struct Result {
        /// `not_found`: there is no such program; `not_allowed`: it must not be executed;
        /// `not_started`: anything else that kept it from running.
        enum class End : std::uint8_t {
            exited,
            killed,
            timed_out,
            too_much_output,
            not_found,
            not_allowed,
            not_started
        };
        End end = End::exited;  ///< see there
        int code = 0;           ///< exit status, or number of the signal that killed it
        std::string output{};  ///< what it printed; the library overwrites it when it has been read
        std::string errors{};  ///< the first few KiB of what it printed to standard error
        std::string detail{};  ///< where it was looked for, or why it was not started
    };
    /// Called once, on any thread, also from within async_run(); at any time, also when the
    /// context of those who wait is gone.
    using Handler = std::function<void(Result)>;

    virtual ~ProgramRunner() = default;
    /// Runs a program without terminal and input. Must not block.
    /// \return when the last copy of it goes, the program is killed, and the handler need not be
    ///         called any more
    [[nodiscard]] virtual std::shared_ptr<void> async_run(Program, Handler) = 0;
};

K8S_SD_EXPORT std::shared_ptr<Clock> system_clock();  ///< steady clock, Asio timers
/// getaddrinfo() in at most 8 threads of the process, which exist while something is looked up.
/// Nobody waits for them: neither run(), nor the end of a context, nor that of the process.
K8S_SD_EXPORT std::shared_ptr<Resolver> system_resolver();
/// At most 32 threads of the process, which exist while a file is read. Nobody waits for them, as
/// with system_resolver().
K8S_SD_EXPORT std::shared_ptr<FileCalls> system_file_calls();
/// Child processes, each in a session of its own, without input, and with no descriptor of this
/// process but two pipes. What a program has started in its session is killed when it ends. At most
/// 8 run at a time in the process; each has a thread, which nobody waits for, as with
/// system_resolver(). One that has waited 30 s for its turn is not started. It needs no signal
/// handler, and takes no child of the host.
K8S_SD_EXPORT std::shared_ptr<ProgramRunner> system_program_runner();
K8S_SD_EXPORT std::shared_ptr<Connector> system_connector();  ///< TCP sockets, OpenSSL

/// What is asked of one server at a time by everything that works in one execution context. A LIST
/// beyond it waits for its turn; a URL that finds no place for its WATCH is listed every
/// WatchOptions::poll_interval instead, and says so in its status.
struct ServerLimits {
    std::size_t concurrent_lists = 8;  ///< LISTs under way; zero: no limit
    std::size_t watches = 512;         ///< WATCHes open, each a connection; zero: no limit
};

/// Everything the library takes from outside, one per execution context.
struct Environment {
    std::shared_ptr<Clock> clock{};             ///< null: system_clock()
    std::shared_ptr<Connector> connector{};     ///< null: system_connector(*this)
    std::shared_ptr<Resolver> resolver{};       ///< null: system_resolver()
    std::shared_ptr<FileCalls> file_calls{};    ///< null: system_file_calls()
    std::shared_ptr<ProgramRunner> programs{};  ///< null: system_program_runner()
    std::shared_ptr<Metrics> metrics{};         ///< null: a private instance
    Logger logger{};                            ///< where log lines go
    std::uint64_t seed = 0;                     ///< for jitter; 0: from std::random_device
    InClusterFiles in_cluster{};                ///< where no server is named, see resolve()
    ServerLimits limits{};                      ///< of each server
};

/// The same with the clock, the resolver, the file calls and the logger of an environment. The
/// logger is told when files of certificates or keys turn bad and the previous ones serve.
K8S_SD_EXPORT std::shared_ptr<Connector> system_connector(const Environment&);

/// Sets the environment of `context`; call it before the first Discoverer on it is made, and before
/// metrics_of().
/// \throws asio::service_already_exists when it comes too late; what() says what to do.
K8S_SD_EXPORT void install(asio::execution_context& context, Environment);

/// The metrics of `context`; see Environment::metrics. Thread-safe.
K8S_SD_EXPORT std::shared_ptr<Metrics> metrics_of(asio::execution_context& context);

}  // namespace k8s_sd::inline v0
