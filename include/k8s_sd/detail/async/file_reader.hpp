#pragma once

#include "k8s_sd/detail/async/file_reads.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::detail {

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
