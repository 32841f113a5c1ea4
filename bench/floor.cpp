#include "floor.hpp"

#include "k8s_sd/detail/codec/json/json_parser.hpp"
#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "measure.hpp"
#include "no_handler.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <protozero/pbf_reader.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace bench {

using k8s_sd::detail::JsonParser;
using k8s_sd::detail::Projection;

namespace {

/// A handler that follows the tables, and counts the wanted values.
class JsonWalk {
 public:
    explicit JsonWalk(const Projection& root) : next_(&root) {}
    std::size_t values() const noexcept { return values_; }

    bool passes_over() const noexcept { return next_ == nullptr; }
    void on_passing(std::string_view) {}
    void on_passed() {}
    void on_object_begin() { enter(next_); }
    void on_array_begin() {
        enter(next_);
        after_value();
    }
    void on_object_end() { leave(); }
    void on_array_end() { leave(); }
    void on_key_part(std::string_view part) { key_ += part; }
    void on_key(std::string_view rest) {
        const Projection& around = *around_.back();
        if (!key_.empty()) key_ += rest;
        next_ = around.type == Type::map ? &around : around.member(key_.empty() ? rest : key_);
        if (next_ != nullptr && next_->type == Type::presence) next_ = nullptr;
        key_.clear();
    }
    void on_string_part(std::string_view) {}
    void on_string(std::string_view) { take(); }
    void on_integer(std::int64_t) { take(); }
    void on_fraction() { take(); }
    void on_boolean(bool) { take(); }
    void on_null() { after_value(); }
    void on_document_end() {}

 private:
    using Type = Projection::Type;
    void enter(const Projection* node) { around_.push_back(node); }
    void leave() {
        around_.pop_back();
        after_value();
    }
    void take() {
        if (next_ != nullptr) ++values_;
        after_value();
    }
    void after_value() {
        const bool element = !around_.empty() && around_.back()->type == Type::array;
        next_ = element ? &around_.back()->element.front() : nullptr;
    }

    std::size_t values_ = 0;
    const Projection* next_;  // node of the next value; null: not wanted
    std::vector<const Projection*> around_;
    std::string key_;  // received in several parts
};

/// A varint at the start of `bytes`, removed from them; nullopt if its end is missing.
std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        value |= std::uint64_t{byte & 0x7fU} << (7 * i);
        if (byte >= 0x80) continue;
        bytes.remove_prefix(i + 1);
        return value;
    }
    return std::nullopt;
}

class JsonFields final : public FieldWalk {
 public:
    explicit JsonFields(const Projection& list) : parser_(list) { parser_.begin(); }
    std::size_t feed(std::string_view bytes) override {
        if (bytes.empty()) return 0;  // the head of the response was read alone
        if (!parser_.done() && parser_.feed(bytes) == 0) std::abort();
        return bytes.size();
    }
    std::size_t values() const noexcept override { return parser_.handler().values(); }

 private:
    JsonParser<JsonWalk> parser_;
};

class ProtobufFields final : public FieldWalk {
 public:
    explicit ProtobufFields(const Projection& object) : object_(object) {}
    std::size_t feed(std::string_view bytes) override {
        std::string_view rest = bytes;
        if (!in_list_ && !take_head(rest)) return 0;
        in_list_ = true;
        while (take_field(rest)) {
        }
        return bytes.size() - rest.size();
    }
    std::size_t values() const noexcept override { return values_; }

 private:
    /// The magic bytes, the kind, and the tag and length of the list.
    static bool take_head(std::string_view& rest) {
        constexpr std::size_t more_than_head = 64;
        if (rest.size() < more_than_head) return false;
        rest.remove_prefix(std::strlen("k8s") + 2);
        const auto size = take_varint(rest);
        rest.remove_prefix(*size + 1);
        return take_varint(rest).has_value();
    }
    bool take_field(std::string_view& rest) {
        std::string_view field = rest;
        const auto tag = take_varint(field);
        const auto size = tag ? take_varint(field) : std::nullopt;
        if (!size || *size > field.size()) return false;
        if (*tag >> 3U == 2) walk(object_, {field.data(), *size});
        rest = field.substr(*size);
        return true;
    }
    void walk(const Projection& node, protozero::pbf_reader message) {
        while (message.next()) {
            const Projection* const member = node.member_in(message.tag());
            member != nullptr ? take(*member, message) : message.skip();
        }
    }
    void take(const Projection& member, protozero::pbf_reader& message) {
        using Type = Projection::Type;
        switch (member.type) {
            case Type::object: return walk(member, message.get_message());
            case Type::array:
                if (member.element.front().type == Type::object)
                    return walk(member.element.front(), message.get_message());
                break;
            case Type::map: {
                protozero::pbf_reader pair = message.get_message();
                while (pair.next()) pair.skip();
                ++values_;
                return;
            }
            case Type::presence: return message.skip();
            default: break;
        }
        ++values_;
        message.skip();
    }

    const Projection& object_;
    std::size_t values_ = 0;
    bool in_list_ = false;
};

}  // namespace

std::unique_ptr<FieldWalk> make_field_walk(Encoding encoding, k8s_sd::Kind kind) {
    const k8s_sd::detail::KindSchema& schema = k8s_sd::detail::schema_of(kind);
    if (encoding == Encoding::json) return std::make_unique<JsonFields>(schema.json.list);
    return std::make_unique<ProtobufFields>(schema.protobuf.object);
}

// --- from a socket -------------------------------------------------------------------------------

namespace {

namespace asio = boost::asio;

/// Reads the body of a response into one buffer. `take` returns the number of consumed bytes.
template <class Take>
void read_body(asio::ip::tcp::socket& socket, const Take& take) {
    std::vector<char> buffer(256 * 1024);
    std::size_t kept = 0;
    const auto read = [&] {
        return socket.read_some(asio::buffer(buffer.data() + kept, buffer.size() - kept));
    };
    std::string_view bytes(buffer.data(), read());
    const std::size_t length = bytes.find("Content-Length: ") + 16;
    std::size_t left = std::strtoull(bytes.data() + length, nullptr, 10);
    bytes.remove_prefix(bytes.find("\r\n\r\n") + 4);
    while (true) {
        left -= bytes.size() - kept;
        bytes.remove_prefix(take(bytes, left > 0));
        if (left == 0) return;
        kept = bytes.size();
        if (kept == buffer.size()) std::abort();
        std::memmove(buffer.data(), bytes.data(), kept);
        bytes = {buffer.data(), kept + read()};
    }
}

void read(asio::ip::tcp::socket& socket, Encoding encoding, Floor floor, k8s_sd::Kind kind) {
    boost::json::basic_parser<NoHandler> parser({});
    const auto walk = make_field_walk(encoding, kind);
    read_body(socket, [&](std::string_view bytes, bool more) {
        boost::system::error_code ec;
        if (floor == Floor::json_parser) parser.write_some(more, bytes.data(), bytes.size(), ec);
        return floor == Floor::field_walk ? walk->feed(bytes) : bytes.size();
    });
    if (floor == Floor::field_walk && walk->values() == 0) std::abort();
}

}  // namespace

double measure_floor(unsigned short port, Encoding encoding, Floor floor, k8s_sd::Kind kind) {
    return in_process([&] {
        asio::io_context context;
        asio::ip::tcp::socket socket(context);
        socket.connect({asio::ip::address_v4::loopback(), port});
        const double cpu = cpu_seconds();
        const k8s_sd::Resource& resource = k8s_sd::resource_of(kind);
        const std::string group(resource.group);
        const std::string request =
            "GET " + (group.empty() ? "/api" : "/apis/" + group) + "/v1/" +
            std::string(resource.plural) +
            " HTTP/1.1\r\nHost: bench\r\nAccept: " + std::string(content_type(encoding)) +
            "\r\n\r\n";
        asio::write(socket, asio::buffer(request));
        read(socket, encoding, floor, kind);
        return cpu_seconds() - cpu;
    });
}

// --- of labels -----------------------------------------------------------------------------------

std::size_t label_text(const k8s_sd::TargetGroups& host) {
    std::unordered_set<std::string_view> texts;
    const auto add = [&](const k8s_sd::Labels& labels) {
        for (const auto [name, value] : labels) texts.insert({name, value});
    };
    host.for_each_group([&](const k8s_sd::TargetGroupPtr& group) {
        add(group->labels());
        for (std::size_t i = 0; i < group->size(); ++i) add((*group)[i]);
    });
    std::size_t bytes = 0;
    for (const std::string_view text : texts) bytes += text.size();
    return bytes;
}

}  // namespace bench
