#include "k8s_sd/detail/transport/lookups.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/query.hpp>
#include <exception>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Per name. A lookup may block one of the few threads of the process forever; the second one
/// detects a recovered resolver.
constexpr unsigned max_lookups = 2;

void look_up_for(const std::shared_ptr<Lookups::Shared>& lookups, std::uint64_t number,
                 const NameLookup& lookup) {
    std::string problem;
    try {
        return lookup.resolver->async_resolve(
            lookup.host, [weak = std::weak_ptr(lookups),
                          number](error_code ec, const std::vector<asio::ip::address>& addresses) {
                if (const auto self = weak.lock()) self->complete(number, ec, {}, addresses);
            });
    } catch (const std::bad_alloc&) {
        problem = "no memory";  // short: it takes none
    } catch (const std::exception& error) {
        problem = in_words(error);
    } catch (...) {
        problem = "unknown exception";
    }
    lookups->complete(number, errc::connector_failed, problem, {});
}

}  // namespace

asio::execution_context::id Lookups::id;

Lookups::Lookups(asio::execution_context& context)
    : asio::execution_context::service(context), lookups_(std::make_shared<Shared>(max_lookups)) {}

Lookups::WaiterHandle Lookups::async_resolve(const asio::any_io_executor& executor,
                                             const std::shared_ptr<Resolver>& resolver,
                                             const std::string& host, Handler handler) {
    auto& context = asio::query(executor, asio::execution::context);
    const auto lookups = asio::use_service<Lookups>(context).lookups_;
    const auto joined = lookups->join({resolver, host}, executor, std::move(handler));
    if (joined.first) look_up_for(lookups, joined.number, joined.call);
    return joined.waiter;
}

void Lookups::shutdown() { lookups_->clear(); }

}  // namespace k8s_sd::inline v0::detail
