#include "cluster.hpp"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <zlib.h>
#include <array>
#include <cstdio>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

std::string read_gzip(const std::string& path) {
    const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), &gzclose);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::string content;
    std::array<char, 65536> buffer{};
    for (int n = 0; (n = gzread(file.get(), buffer.data(), buffer.size())) > 0;) {
        content.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return content;
}

}  // namespace

std::string recorded(const std::string& name) {
    return read_gzip(std::string(K8S_SD_BENCH_DATA) + "/" + name);
}

namespace {

// Replaces each occurrence of `text` by another text of the same length.
void replace_all(std::string& in, std::string_view text, std::string_view by) {
    for (auto at = in.find(text); at != std::string::npos; at = in.find(text, at + by.size())) {
        in.replace(at, by.size(), by);
    }
}

std::string digits(std::size_t number, int width) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%0*zu", width, number);
    return text.data();
}

// --- protobuf ----------------------------------------------------------------------------------

/// A document: its kind and the bytes of the object.
std::string enveloped(std::string_view kind, std::string_view object) {
    std::string type_meta;
    protozero::pbf_writer type(type_meta);
    type.add_string(1, "v1");
    type.add_bytes(2, kind.data(), kind.size());
    std::string document("k8s\0", 4);
    protozero::pbf_writer unknown(document);
    unknown.add_message(1, type_meta);
    unknown.add_message(2, object.data(), object.size());
    return document;
}

struct Field {
    unsigned number = 0;
    std::string_view whole;    ///< with its tag and length
    std::string_view content;  ///< of a field with bytes
};

/// Calls `take` with each field of a message.
template <class Take>
void for_each_field(std::string_view message, const Take& take) {
    protozero::pbf_reader reader(message.data(), message.size());
    for (const char* begin = message.data(); reader.next();) {
        Field field;
        field.number = reader.tag();
        if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
            const protozero::data_view bytes = reader.get_view();
            field.content = {bytes.data(), bytes.size()};
        } else {
            reader.skip();
        }
        const char* const end = reader.data().data();
        field.whole = {begin, static_cast<std::size_t>(end - begin)};
        begin = end;
        take(field);
    }
}

std::string_view content_of(std::string_view message, unsigned number) {
    std::string_view content;
    for_each_field(message, [&](const Field& field) {
        if (field.number == number) content = field.content;
    });
    return content;
}

constexpr unsigned item_field = 2;
constexpr unsigned metadata_field = 1;
constexpr unsigned version_field = 6;

/// The items of a recorded list, with their tags and lengths.
std::string items_of(std::string_view document) {
    std::string items;
    for_each_field(content_of(document.substr(4), 2), [&](const Field& field) {
        if (field.number == item_field) items += field.whole;
    });
    return items;
}

/// The object with another resource version.
std::string with_version(std::string_view object, const std::string& version) {
    std::string metadata;
    for_each_field(content_of(object, metadata_field), [&](const Field& field) {
        if (field.number != version_field) metadata += field.whole;
    });
    protozero::pbf_writer(metadata).add_string(version_field, version);
    std::string changed;
    protozero::pbf_writer(changed).add_message(metadata_field, metadata);
    for_each_field(object, [&](const Field& field) {
        if (field.number != metadata_field) changed += field.whole;
    });
    return changed;
}

/// Replaces names and addresses by those of the copy number `page`.
void rename(std::string& items, std::size_t page, std::string_view before, std::string_view after) {
    // The recorded page has the namespaces ns-000 to ns-003 and addresses from 10.64.0.1 on.
    for (std::size_t i = 4; i-- > 0;) {
        const auto name = [&](std::size_t number) {
            return std::string(before) + "ns-" + digits(number, 3) + std::string(after);
        };
        replace_all(items, name(i), name(page * 4 + i));
    }
}

constexpr std::string_view list_version = "23537";

}  // namespace

std::string_view content_type(Encoding encoding) {
    return encoding == Encoding::json ? "application/json" : "application/vnd.kubernetes.protobuf";
}

Cluster::Cluster(std::size_t pods, Encoding encoding) : encoding_(encoding) {
    constexpr std::size_t page_size = 2000;
    parts_.reserve(pods / page_size + 3);
    encoding == Encoding::json ? make_json(pods) : make_protobuf(pods);
    for (const std::string& part : parts_) list_bytes_ += part.size();
}

void Cluster::make_json(std::size_t pods) {
    const std::string list = recorded("pods.json.gz");
    const std::size_t begin = list.find("\"items\":[") + 9;
    const std::string items = list.substr(begin, list.rfind(']') - begin);
    parts_.push_back(
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"23537"},"items":[)");
    for (std::size_t page = 0; items_.size() < pods; ++page) add_json_page(items, page);
    parts_.push_back("]}\n");
}

void Cluster::make_protobuf(std::size_t pods) {
    const std::string items = items_of(recorded("pods.pb.gz"));
    parts_.emplace_back();  // the head announces the size of the list
    for (std::size_t page = 0; items_.size() < pods; ++page) add_protobuf_page(items, page);
    std::string version;
    protozero::pbf_writer(version).add_bytes(2, list_version.data(), list_version.size());
    std::string metadata;
    protozero::pbf_writer(metadata).add_message(1, version);
    std::size_t size = metadata.size();
    for (const std::string& part : parts_) size += part.size();
    parts_.front() = enveloped("PodList", {});
    parts_.front().pop_back();  // the length 0
    protozero::write_varint(std::back_inserter(parts_.front()), size);
    parts_.front() += metadata;
}

void Cluster::add_json_page(std::string_view items, std::size_t page) {
    std::string copy(page == 0 ? "" : ",");
    const std::size_t comma = copy.size();
    copy += items;
    rename(copy, page, "\"", "\"");
    replace_all(copy, "\"10.64.", "\"10." + digits(64 + page % 36, 2) + ".");
    parts_.push_back(std::move(copy));
    const std::string_view kept = parts_.back();
    constexpr std::string_view start = R"({"metadata":{"name":")";
    for (std::size_t at = comma; at < kept.size();) {
        std::size_t next = kept.find(std::string(",").append(start), at + 1);
        if (next == std::string_view::npos) next = kept.size();
        items_.push_back(kept.substr(at, next - at));
        at = next + 1;
    }
}

void Cluster::add_protobuf_page(std::string items, std::size_t page) {
    rename(items, page, "\x06", "");  // after the length
    replace_all(items, "10.64.", "10." + digits(64 + page % 36, 2) + ".");
    parts_.push_back(std::move(items));
    for_each_field(parts_.back(), [&](const Field& item) { items_.push_back(item.content); });
}

namespace {

// Each change has a version of its own, behind that of the list.
std::string version_of(std::size_t revision) { return std::to_string(1'000'000 + revision); }

void append_json_event(std::string& out, std::string_view pod, std::size_t revision) {
    out += R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",)";
    const std::size_t begin = out.size();
    out += pod.substr(1);
    constexpr std::string_view label = R"("bench.example.com/rev":")";
    const std::size_t at = out.find(label, begin) + label.size();
    out.replace(at, 9, digits(revision, 9));
    constexpr std::string_view version = R"("resourceVersion":")";
    const std::size_t first = out.find(version, begin) + version.size();
    out.replace(first, out.find('"', first) - first, version_of(revision));
    out += "}\n";
}

void append_protobuf_event(std::string& out, std::string_view pod, std::size_t revision) {
    std::string object = with_version(pod, version_of(revision));
    constexpr std::string_view label = "bench.example.com/rev\x12\x09";
    object.replace(object.find(label) + label.size(), 9, digits(revision, 9));
    std::string raw;
    protozero::pbf_writer(raw).add_message(1, enveloped("Pod", object));
    std::string event;
    protozero::pbf_writer writer(event);
    writer.add_string(1, "MODIFIED");
    writer.add_message(2, raw);
    for (unsigned shift = 32; shift > 0;) out += static_cast<char>(event.size() >> (shift -= 8));
    out += event;
}

}  // namespace

void Cluster::append_event(std::string& out, std::size_t pod, std::size_t revision) const {
    const auto append = encoding_ == Encoding::json ? append_json_event : append_protobuf_event;
    append(out, items_[pod % items_.size()], revision);
}

}  // namespace bench
