#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0::sim {

/// Faults of the in-memory transport, as seen from the client.
struct TransportFaults {
    /// Disables a fault.
    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    std::size_t max_read = never;    ///< maximum bytes of a read; 1: every chunk boundary
    std::size_t buffer = 64 * 1024;  ///< bytes in flight in each direction; beyond it writes wait

    /// The connect, read or write with this number (from 0, over all streams of the connector)
    /// fails with connection_reset and takes its stream down. Later ones work: the network heals.
    std::size_t fail_operation = never;
    /// After this number of bytes received over all streams, the stream with the last of them is
    /// reset. Later streams work.
    std::size_t fail_after_bytes = never;
};

/// Connects streams in memory: every target, http or https, leads to the same server (without
/// TLS). Its streams call handlers on the client's executor. Thread-safe.
class K8S_SD_EXPORT MemoryConnector : public Connector {
 public:
    /// Takes the server's end of a new connection; returns false to refuse it.
    using Accept = std::function<bool(std::unique_ptr<ByteStream>)>;

    /// \param server  executor of the server's ends; `accept` is called from any thread.
    /// \param http2  whether the server chooses HTTP/2, if the client offers it
    MemoryConnector(asio::any_io_executor server, Accept accept, TransportFaults faults = {},
                    bool http2 = false);
    ~MemoryConnector() override;

    /// See Connector. The target is ignored.
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override;

    std::size_t operations() const;  ///< connects, reads and writes of clients so far
    bool failed() const;             ///< whether a fault has occurred

    struct Shared;

 private:
    std::shared_ptr<Shared> shared_;
};

}  // namespace k8s_sd::inline v0::sim
