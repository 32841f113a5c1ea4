#pragma once

#include "k8s_sd/environment.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

/// The network path from one member to the API server: counts bytes, and can delay or cut traffic.
/// For one thread.
class Link final : public k8s_sd::Connector, public std::enable_shared_from_this<Link> {
 public:
    /// \param delay  of everything the server sends
    Link(std::shared_ptr<k8s_sd::Connector> to, std::shared_ptr<k8s_sd::Clock> clock,
         k8s_sd::Duration delay);

    std::unique_ptr<k8s_sd::ByteStream> make_stream(k8s_sd::asio::any_io_executor,
                                                    const k8s_sd::ConnectTarget&) override;
    /// Breaks all connections and refuses new ones.
    void cut();
    void mend() noexcept { is_cut_ = false; }

    std::uint64_t received() const noexcept { return received_; }  ///< bytes
    void forget() noexcept { received_ = 0; }

 private:
    class DelayLine;
    class Stream;

    const std::shared_ptr<k8s_sd::Connector> to_;
    const std::shared_ptr<k8s_sd::Clock> clock_;
    const k8s_sd::Duration delay_;
    bool is_cut_ = false;
    std::uint64_t received_ = 0;
    std::vector<Stream*> streams_;
};

}  // namespace bench
