#include "follow/list_client.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using k8s_sd_program::ListClient;
using k8s_sd_program::ListReply;

namespace {

/// Answers when the test says so, if at all.
class SlowResolver final : public k8s_sd::Resolver {
 public:
    void async_resolve(const std::string& host, Handler handler) override {
        asked.push_back(host);
        waiting.push_back(std::move(handler));
    }
    std::vector<std::string> asked;
    std::vector<Handler> waiting;
};

/// A client that asks once.
struct Asking {
    Asking() {
        const auto end = [this](const std::exception_ptr& problem) {
            try {
                if (problem) std::rethrow_exception(problem);
            } catch (const boost::system::system_error& error) {
                ec = error.code();
            }
        };
        asio::co_spawn(io, client.get(no_tag, reply),
                       asio::bind_cancellation_slot(cancelled.slot(), end));
        io.poll();
    }

    k8s_sd_program::ListClientOptions options() const {
        k8s_sd_program::ListClientOptions result;
        result.resolver = resolver;
        return result;
    }

    asio::io_context io;
    std::shared_ptr<SlowResolver> resolver = std::make_shared<SlowResolver>();
    ListClient client{io.get_executor(), k8s_sd_program::read_list_source("http://name/sd/pods"),
                      options()};
    const std::string no_tag;
    ListReply reply;
    asio::cancellation_signal cancelled;
    std::optional<boost::system::error_code> ec;
};

}  // namespace

TEST_CASE("ListClient: a name lookup that hangs does not hold up the end of a request") {
    Asking asking;
    REQUIRE(asking.resolver->asked == std::vector<std::string>{"name"});
    CHECK_FALSE(asking.ec);
    asking.cancelled.emit(asio::cancellation_type::terminal);
    asking.io.run();
    CHECK(asking.ec == asio::error::operation_aborted);
    asking.resolver->waiting.front()({}, {});  // after the end of its request
}

TEST_CASE("ListClient: an error of a name lookup is that of the request") {
    Asking asking;
    REQUIRE(asking.resolver->waiting.size() == 1);
    asking.resolver->waiting.front()(asio::error::host_not_found, {});
    asking.io.run();
    CHECK(asking.ec == asio::error::host_not_found);
}
