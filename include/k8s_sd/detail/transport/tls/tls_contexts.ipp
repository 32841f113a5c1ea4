#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/tls/tls_contexts.hpp"
#include "k8s_sd/error.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

std::vector<std::string> tls_file_names(const TlsConfig& config) {
    std::vector<std::string> names;
    const auto files = files_of(config);
    for (const std::string* file : {&files.ca, &files.cert, &files.key}) {
        if (!file->empty()) names.push_back(*file);
    }
    return names;
}

}  // namespace

TlsFilesReader::TlsFilesReader(const asio::any_io_executor& strand,
                               const std::shared_ptr<Clock>& clock,
                               const std::shared_ptr<FileCalls>& calls)
    : ca_(strand, clock, calls), cert_(strand, clock, calls), key_(strand, clock, calls) {}

void TlsFilesReader::async_read(const ForTlsFiles<std::string>& files, Handler handler) {
    handler_ = std::move(handler);
    read(ca_, files.ca, contents_.ca);
    read(cert_, files.cert, contents_.cert);
    read(key_, files.key, contents_.key);
}

void TlsFilesReader::read(FileReader& reader, const std::string& path, FileContent& to) {
    if (path.empty()) return;
    ++outstanding_;
    reader.async_read(path, [self = shared_from_this(), &to](const FileContent& content) {
        to = content;
        if (--self->outstanding_ == 0) std::exchange(self->handler_, nullptr)(self->contents_);
    });
}

void TlsFilesReader::cancel() noexcept {
    const auto self = shared_from_this();  // the readers own this object
    for (FileReader* reader : {&ca_, &cert_, &key_}) reader->cancel();
    handler_ = nullptr;
}

TlsContexts::TlsContexts(std::shared_ptr<Clock> clock, std::shared_ptr<FileCalls> calls,
                         Logger logger)
    : clock_(std::move(clock)), calls_(std::move(calls)), logger_(std::move(logger)) {}

std::weak_ptr<TlsFilesReader> TlsContexts::async_get(const asio::any_io_executor& strand,
                                                     const std::shared_ptr<const TlsConfig>& config,
                                                     Handler handler, TrustStore trust) {
    if (const Context context = known(*config, trust)) {
        handler(context, {});
        return {};
    }
    if (tls_file_names(*config).empty()) {
        finish(*config, trust, {}, handler);
        return {};
    }
    const auto reader = std::make_shared<TlsFilesReader>(strand, clock_, calls_);
    reader->async_read(files_of(*config), [self = shared_from_this(), config, trust,
                                           handler = std::move(handler)](const auto& contents) {
        self->finish(*config, trust, contents, handler);
    });
    return reader;
}

void TlsContexts::finish(const TlsConfig& config, TrustStore trust,
                         const ForTlsFiles<FileContent>& contents, const Handler& handler) {
    Context context;
    std::string problem;
    try {
        context = renewed(config, trust, contents);
    } catch (const std::exception& error) {
        problem = in_words(error);
    }
    handler(context, problem);
}

/// The context to use without a check of the files; null: a check is due.
TlsContexts::Context TlsContexts::known(const TlsConfig& config, TrustStore trust) {
    constexpr Duration check_interval = std::chrono::seconds(1);
    constexpr Duration keep_unused = std::chrono::hours(1);
    const Sha256 key = key_of(config, trust);
    const TimePoint now = clock_->now();
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const auto& e) { return now - e.second.used_at > keep_unused; });
    const auto position = entries_.find(key);
    if (position == entries_.end()) return nullptr;
    CachedContext& entry = position->second;
    entry.used_at = now;
    if (now - entry.checked_at < check_interval) return entry.context;
    entry.checked_at = now;
    return nullptr;
}

TlsContexts::Context TlsContexts::renewed(const TlsConfig& config, TrustStore trust,
                                          const ForTlsFiles<FileContent>& contents) {
    const Sha256 key = key_of(config, trust);
    const TimePoint now = clock_->now();
    std::string before, after, warning;
    Context context;
    {
        const std::lock_guard lock(mutex_);
        auto position = entries_.find(key);
        if (position == entries_.end()) {
            CachedContext entry{{}, {}, now, now, {}, {}};
            renew(entry, config, trust, contents);
            warning = entry.warning;
            position = entries_.emplace(key, std::move(entry)).first;
        }
        CachedContext& entry = position->second;
        const Context old = entry.context;
        before = std::exchange(entry.problem, {});
        try {
            renew(entry, config, trust, contents);
        } catch (const std::exception& error) {
            entry.problem = in_words(error);
        }
        after = entry.problem;
        context = entry.context;
        if (context != old) warning = entry.warning;
    }
    if (!warning.empty()) logger_.log(LogLevel::warning, LogEvent::tls_files_doubtful, warning);
    if (before == after) return context;
    const LogEvent event =
        after.empty() ? LogEvent::tls_files_recovered : LogEvent::tls_files_failed;
    logger_.log(LogLevel::warning, event,
                after.empty() ? join(tls_file_names(config)) + ": usable again"
                              : after + "; the previous content stays in use");
    return context;
}

void TlsContexts::renew(CachedContext& entry, const TlsConfig& config, TrustStore trust,
                        const ForTlsFiles<FileContent>& contents) {
    const Sha256 digest =
        sha256({view(contents.ca.bytes), view(contents.cert.bytes), view(contents.key.bytes)});
    if (entry.context && entry.contents == digest) return;
    std::string warning;
    entry.context = make_client_context(config, contents, trust, &warning);
    entry.warning = std::move(warning);
    entry.contents = digest;
}

Sha256 TlsContexts::key_of(const TlsConfig& config, TrustStore trust) {
    const auto version = [](TlsVersion v) { return std::to_string(static_cast<int>(v)); };
    return sha256({config.ca, config.ca_file, config.cert, config.cert_file, config.key,
                   config.key_file, config.insecure_skip_verify ? "1" : "0",
                   version(config.min_version), version(config.max_version),
                   trust == TrustStore::configured ? "0" : "1"});
}

}  // namespace k8s_sd::inline v0::detail
