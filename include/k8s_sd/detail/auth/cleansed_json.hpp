#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <boost/container/pmr/memory_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

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
