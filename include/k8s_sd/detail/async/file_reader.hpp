#pragma once

#include "k8s_sd/detail/async/single_flight.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <functional>
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
    std::shared_ptr<const FileContent> no_memory_;  ///< the content without memory for another one
};

/// Reads files off the strand, one at a time, for an owner on it. A read times out after 10 s;
/// later calls for a hanging read fail at once. Confined to the strand.
class FileReader {
 public:
    using Handler = std::function<void(const FileContent&)>;

    FileReader(asio::any_io_executor, std::shared_ptr<Clock>, std::shared_ptr<FileCalls>);
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;
    /// Cancels the read.
    ~FileReader();

    /// The handler is called later and may destroy the reader. The read keeps the handler alive,
    /// not the reader.
    void async_read(const std::string& path, Handler);
    /// Drops the handler.
    void cancel() noexcept;

 private:
    class Reading;

    asio::any_io_executor executor_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<FileCalls> calls_;
    std::weak_ptr<Reading> reading_;
};

}  // namespace k8s_sd::inline v0::detail
