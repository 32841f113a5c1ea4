#pragma once

#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Reads the TLS files of a configuration in parallel. Confined to the strand.
class TlsFilesReader : public std::enable_shared_from_this<TlsFilesReader> {
 public:
    using Handler = std::function<void(const ForTlsFiles<FileContent>&)>;

    TlsFilesReader(const asio::any_io_executor& strand, const std::shared_ptr<Clock>&,
                   const std::shared_ptr<FileCalls>&);

    /// The handler is called later. Pending reads keep this object alive.
    /// \param files  at least one
    void async_read(const ForTlsFiles<std::string>& files, Handler);
    /// Drops the handler.
    void cancel() noexcept;

 private:
    void read(FileReader&, const std::string& path, FileContent& to);

    ForTlsFiles<FileContent> contents_;
    Handler handler_;
    int outstanding_ = 0;
    FileReader ca_, cert_, key_;
};

/// TLS contexts by configuration, rebuilt after changes of their files. Thread-safe.
class TlsContexts : public std::enable_shared_from_this<TlsContexts> {
 public:
    using Context = std::shared_ptr<asio::ssl::context>;
    /// Without a context, `problem` describes the error.
    using Handler = std::function<void(const Context&, const std::string& problem)>;

    /// \param logger  logs the first error of changed files, and the recovery
    TlsContexts(std::shared_ptr<Clock>, std::shared_ptr<FileCalls>, Logger logger = {});

    /// Checks the files at most once per second. While changed files are broken, or a read takes
    /// over 10 s, the previous context stays in use.
    /// \param handler  called from this call if no file needs a read, otherwise on `strand`
    /// \return the pending reader; expired: none
    std::weak_ptr<TlsFilesReader> async_get(const asio::any_io_executor& strand,
                                            const std::shared_ptr<const TlsConfig>&,
                                            Handler handler, TrustStore = TrustStore::configured);

 private:
    struct CachedContext {
        Context context;
        Sha256 contents{};  ///< of the files
        TimePoint checked_at;
        TimePoint used_at;
        std::string problem;  ///< the logged problem
        std::string warning;  ///< about the context
    };

    /// Hashed, so the cache keeps no copies of inline keys.
    static Sha256 key_of(const TlsConfig&, TrustStore);
    static void renew(CachedContext&, const TlsConfig&, TrustStore,
                      const ForTlsFiles<FileContent>&);

    Context known(const TlsConfig&, TrustStore);
    Context renewed(const TlsConfig&, TrustStore, const ForTlsFiles<FileContent>&);
    void finish(const TlsConfig&, TrustStore, const ForTlsFiles<FileContent>&, const Handler&);

    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<FileCalls> calls_;
    const Logger logger_;
    std::mutex mutex_;
    std::map<Sha256, CachedContext> entries_;
};

}  // namespace k8s_sd::inline v0::detail
