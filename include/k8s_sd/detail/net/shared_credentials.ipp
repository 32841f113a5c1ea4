#include "k8s_sd/detail/base/strand.hpp"
#include "k8s_sd/detail/net/shared_credentials.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// One client's access to shared credentials. The shared part holds a weak reference to the
/// handler; this object owns it.
class CredentialCounter final : public CredentialSource {
 public:
    CredentialCounter(asio::any_io_executor strand, std::shared_ptr<CredentialDesk> desk)
        : strand_(std::move(strand)), desk_(std::move(desk)) {}

    void async_get(Refused refused, Handler handler) override {
        waiting_ = std::make_shared<Handler>(std::move(handler));
        // Counts as work of the client's context until the handler is called.
        auto back = asio::prefer(strand_, asio::execution::outstanding_work.tracked);
        auto tell = [back, weak = std::weak_ptr(waiting_)](
                        const std::shared_ptr<const RequestCredentials>& answer) {
            asio::post(back, [weak, answer] {
                const auto waiting = weak.lock();
                if (waiting) std::exchange(*waiting, nullptr)(*answer);
            });
        };
        asio::post(desk_->strand,
                   [desk = desk_, refused = std::move(refused), tell = std::move(tell)] {
                       desk->credentials->async_get(refused, tell);
                   });
    }

 private:
    asio::any_io_executor strand_;
    std::shared_ptr<CredentialDesk> desk_;
    std::shared_ptr<Handler> waiting_;
};

asio::execution_context::id SharedCredentials::id;

std::shared_ptr<CredentialDesk> SharedCredentials::acquire(const asio::any_io_executor& executor,
                                                           const Issuer& issuer, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (auto desk = desks_.find(issuer)) return desk;
    const asio::any_io_executor strand = make_own_strand(executor);
    auto desk = std::make_unique<CredentialDesk>(CredentialDesk{strand, make(strand)});
    // The desk owns timers and sockets of the strand, so it is always destroyed there.
    return desks_.add(issuer, std::move(desk), [strand](CredentialDesk* last) {
        asio::dispatch(strand, [owned = std::unique_ptr<CredentialDesk>(last)] {});
    });
}

std::unique_ptr<CredentialSource> SharedCredentials::source(const asio::any_io_executor& strand,
                                                            const Issuer& issuer,
                                                            const Make& make) {
    auto& context = asio::query(strand, asio::execution::context);
    auto desk = asio::use_service<SharedCredentials>(context).acquire(strand, issuer, make);
    return std::make_unique<CredentialCounter>(strand, std::move(desk));
}

}  // namespace k8s_sd::inline v0::detail
