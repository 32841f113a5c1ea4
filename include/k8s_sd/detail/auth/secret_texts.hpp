#pragma once

#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/container/pmr/memory_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Secret texts from the configuration, or from files read in parallel. A file with an error,
/// without content or with a read time over 10 s never replaces a good value. Confined to one
/// strand.
class SecretTexts {
 public:
    /// \param logger  logs the first error of a file while an older value is in use, and the
    /// recovery
    SecretTexts(asio::any_io_executor strand, std::shared_ptr<Clock>, std::shared_ptr<FileCalls>,
                Logger logger);
    SecretTexts(const SecretTexts&) = delete;
    SecretTexts& operator=(const SecretTexts&) = delete;
    ~SecretTexts();

    /// Adds a text and returns its index.
    /// \param name  of the field, for messages; the file's name is appended
    /// \param file  empty: use `value`; else `value` is used until the file has been read
    std::size_t add(const std::string& name, std::string_view value, const std::string& file);
    /// Reads all files. Must not be called again before the handler has run. Without files the
    /// handler is called from this call; it may destroy this object.
    void async_read(std::function<void()>);

    /// The last good value.
    std::string_view operator[](std::size_t index) const;
    /// Whether each text has a value.
    bool complete() const;
    /// The problem of the last read; empty: none.
    std::string problem() const;
    /// When to read the files again; nullopt without files.
    std::optional<TimePoint> expiry() const;

 private:
    struct Text;
    void read(Text&);
    void end_one();

    asio::any_io_executor strand_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<FileCalls> calls_;
    Logger logger_;
    std::vector<std::unique_ptr<Text>> texts_;
    std::function<void()> handler_;
    std::size_t outstanding_ = 0;
};

/// Memory wiped on release. Boost 1.81 deallocates keys with a different alignment than allocated;
/// both are at most that of operator new.
class CleansingResource final : public boost::container::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t) override { return ::operator new(size); }
    void do_deallocate(void* memory, std::size_t size, std::size_t) override {
        cleanse(memory, size);
        ::operator delete(memory);
    }
    bool do_is_equal(const boost::container::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }
};

/// A small JSON document with secrets.
class CleansedJson {
 public:
    explicit CleansedJson(std::string_view text) {
        boost::json::parse_options options;
        options.max_depth = 32;
        boost::system::error_code ec;
        // The parser's buffer holds parts of texts, so it is wiped as well.
        unsigned char buffer[4096];
        {
            boost::json::parser parser(&memory_, options, buffer, sizeof buffer);
            parser.reset(&memory_);
            parser.write(without_byte_order_mark(text), ec);
            if (!ec) value_ = parser.release();
        }
        cleanse(buffer, sizeof buffer);
        if (ec) problem_ = ec.message();
    }

    CleansedJson(const CleansedJson&) = delete;
    CleansedJson& operator=(const CleansedJson&) = delete;

    const boost::json::value& value() const noexcept { return value_; }
    /// The parse error; empty: none.
    const std::string& problem() const noexcept { return problem_; }

 private:
    CleansingResource memory_;
    boost::json::value value_ = boost::json::value(boost::json::storage_ptr(&memory_));
    std::string problem_;
};

}  // namespace k8s_sd::inline v0::detail
