#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0::sim {

/// What goes wrong on the in-memory transport, seen from the client.
struct TransportFaults {
    /// For a fault that does not happen.
    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    std::size_t max_read = never;    ///< bytes a read returns at most; 1: every chunk boundary
    std::size_t buffer = 64 * 1024;  ///< bytes in flight a direction; then writes wait

    /// The connect, read or write with this number (from 0, over all streams of the connector)
    /// fails with connection_reset and takes its stream down. Later ones work: the network heals.
    std::size_t fail_operation = never;
    /// Once so many bytes were received over all streams, the stream that received the last of
    /// them is reset. Later streams work.
    std::size_t fail_after_bytes = never;
};

/// Connects streams in memory: every target, http or https, leads to the same server (no TLS is
/// spoken). Its streams call handlers on the client's executor. Thread-safe.
class K8S_SD_EXPORT MemoryConnector : public Connector {
 public:
    /// Takes the server's end of a new connection; returns false to refuse it.
    using Accept = std::function<bool(std::unique_ptr<ByteStream>)>;

    /// \param server  executor of the server's ends; `accept` is called from any thread.
    MemoryConnector(asio::any_io_executor server, Accept accept, TransportFaults faults = {});
    ~MemoryConnector() override;

    /// See Connector. The target does not matter.
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override;

    std::size_t operations() const;  ///< connects, reads and writes of clients so far
    bool failed() const;             ///< whether a fault has struck

    struct Shared;

 private:
    std::shared_ptr<Shared> shared_;
};

}  // namespace k8s_sd::inline v0::sim
