#pragma once

#include "k8s_sd/detail/async/single_flight.hpp"
#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The content of a file, or the error.
struct FileContent {
    CleansedBytes bytes;
    std::string problem;  ///< empty: none; otherwise the reason, without the path
};

struct FileRead {
    bool is(const FileRead& other) const noexcept {
        return calls == other.calls && path == other.path;
    }

    std::shared_ptr<FileCalls> calls;
    std::string path;
    TimePoint since;  ///< start of the read
};

/// The pending file reads of one execution context. Concurrent reads of a file share one call, even
/// an abandoned one. Results are not cached. Thread-safe.
class FileReads final : public asio::execution_context::service {
 public:
    using Shared = SingleFlight<FileRead, std::shared_ptr<const FileContent>>;
    using Handler = Shared::Handler;
    struct Begun {
        Shared::WaiterHandle waiter;
        TimePoint since;  ///< earlier than now for a read already pending
    };

    static asio::execution_context::id id;

    explicit FileReads(asio::execution_context& context);

    /// Posts the handler to `executor`; its context determines the shared reads.
    static Begun async_read(const asio::any_io_executor& executor,
                            const std::shared_ptr<FileCalls>&, const std::string& path,
                            TimePoint now, Handler);

 private:
    void shutdown() override;

    std::shared_ptr<Shared> reads_;
};

}  // namespace k8s_sd::inline v0::detail
