#include "k8s_sd/detail/async/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace k8s_sd::inline v0::detail {

namespace {

boost::asio::any_io_executor without_strand(boost::asio::any_io_executor executor) {
    namespace asio = boost::asio;
    using Io = asio::io_context::executor_type;
    using Pool = asio::thread_pool::executor_type;
    if (const auto* io = executor.target<asio::strand<Io>>()) return io->get_inner_executor();
    if (const auto* pool = executor.target<asio::strand<Pool>>()) return pool->get_inner_executor();
    if (const auto* any = executor.target<asio::strand<asio::any_io_executor>>()) {
        return without_strand(any->get_inner_executor());
    }
    return executor;
}

}  // namespace

boost::asio::any_io_executor make_own_strand(const boost::asio::any_io_executor& executor) {
    return boost::asio::make_strand(without_strand(executor));
}

}  // namespace k8s_sd::inline v0::detail
