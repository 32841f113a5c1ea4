#include "object_list.hpp"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

using k8s_sd::Kind;
using k8s_sd::Resource;
using k8s_sd::resource_of;

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

std::string digits(std::size_t number, int width) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%0*zu", width, number);
    return text.data();
}

std::string api_version(const Resource& resource) {
    const std::string group(resource.group);
    return (group.empty() ? group : group + "/") + std::string(resource.version);
}

/// The label changed by events.
struct ChangedLabel {
    std::string_view key;
    std::size_t value_size;
};
ChangedLabel changed_label(Kind kind) {
    return kind == Kind::node ? ChangedLabel{"node-pool", 7}
                              : ChangedLabel{"bench.example.com/rev", 9};
}

// Each change has a version of its own, behind that of the list.
std::string version_of(std::size_t revision) { return std::to_string(1'000'000 + revision); }

// --- protobuf ------------------------------------------------------------------------------------

/// A document: its kind and the bytes of the object.
std::string enveloped(const Resource& resource, std::string_view kind_suffix,
                      std::string_view object) {
    std::string type_meta;
    protozero::pbf_writer type(type_meta);
    type.add_string(1, api_version(resource));
    type.add_string(2, std::string(resource.kind).append(kind_suffix));
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

constexpr std::string_view list_version = "23537";

// --- events --------------------------------------------------------------------------------------

void append_json_event(std::string& out, Kind kind, std::string_view object, std::string_view value,
                       std::size_t revision) {
    const Resource& resource = resource_of(kind);
    out += R"({"type":"MODIFIED","object":{"kind":")";
    out.append(resource.kind).append(R"(","apiVersion":")").append(api_version(resource));
    out += "\",";
    const std::size_t begin = out.size();
    out += object.substr(1);
    const std::string label = '"' + std::string(changed_label(kind).key) + "\":\"";
    out.replace(out.find(label, begin) + label.size(), value.size(), value);
    constexpr std::string_view version = R"("resourceVersion":")";
    const std::size_t first = out.find(version, begin) + version.size();
    out.replace(first, out.find('"', first) - first, version_of(revision));
    out += "}\n";
}

void append_protobuf_event(std::string& out, Kind kind, std::string_view object,
                           std::string_view value, std::size_t revision) {
    std::string changed = with_version(object, version_of(revision));
    std::string label(changed_label(kind).key);
    label += {'\x12', static_cast<char>(value.size())};
    changed.replace(changed.find(label) + label.size(), value.size(), value);
    std::string raw;
    protozero::pbf_writer(raw).add_message(1, enveloped(resource_of(kind), "", changed));
    std::string event;
    protozero::pbf_writer writer(event);
    writer.add_string(1, "MODIFIED");
    writer.add_message(2, raw);
    for (unsigned shift = 32; shift > 0;) out += static_cast<char>(event.size() >> (shift -= 8));
    out += event;
}

}  // namespace

std::string recorded(const std::string& name) {
    return read_gzip(std::string(K8S_SD_BENCH_DATA) + "/" + name);
}

std::string_view content_type(Encoding encoding) {
    return encoding == Encoding::json ? "application/json" : "application/vnd.kubernetes.protobuf";
}

// --- the recorded list ---------------------------------------------------------------------------

namespace {

/// Namespaces of a copy: 20, but a copy of pods has four.
constexpr std::size_t namespaces_of_copy = 20;
constexpr std::size_t pod_namespaces_of_copy =
    ObjectList::pods_of_copy / ObjectList::pods_of_namespace;
constexpr std::size_t pods_of_full_nodes = 50'000;

/// The copy of the recorded nodes with the pods of this copy.
std::size_t node_copy(std::size_t pod_copy) {
    constexpr std::size_t full = pods_of_full_nodes / ObjectList::pods_of_copy;
    constexpr std::size_t others = 74;
    return pod_copy < full ? 0 : 1 + (pod_copy - full) % others;
}

std::size_t round_up(std::size_t number, std::size_t divisor) {
    return (number + divisor - 1) / divisor;
}

}  // namespace

std::size_t ObjectList::node_count(std::size_t pods) {
    std::size_t copies = 0;
    for (std::size_t i = 0; i < round_up(pods, pods_of_copy); ++i) {
        copies = std::max(copies, node_copy(i) + 1);
    }
    return copies * nodes_of_copy;
}

std::string ObjectList::namespace_name(std::size_t number) {
    constexpr std::size_t decimal = 1000;
    if (number < decimal) return "ns-" + digits(number, 3);
    constexpr std::string_view all = "abcdefghijklmnopqrstuvwxyz0123456789";
    number -= decimal;
    return {'n',
            's',
            '-',
            all[number / all.size() / all.size() % 26],
            all[number / all.size() % all.size()],
            all[number % all.size()]};
}

ObjectList::ObjectList(Kind kind, Encoding encoding, std::size_t pods, std::size_t namespace_size)
    : kind_(kind), encoding_(encoding), namespace_size_(namespace_size) {
    encoding == Encoding::json ? read_json() : read_protobuf();
    find_places("10.64.", 0, What::address);
    find_places("ns-", 3, What::namespace_);
    find_places("node-", 5, What::node);
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.offset < b.offset; });
    std::size_t place = 0;
    for (Item& item : items_) {
        item.first_place = place;
        for (; place < places_.size() && places_[place].offset < item.end; ++place) {
            if (places_[place].what == What::namespace_) item.namespace_ = places_[place].number;
        }
    }
    const std::size_t items_of_namespace = items_.size() / namespaces_of_copy;
    count_ = kind == Kind::pod    ? pods
             : kind == Kind::node ? node_count(pods)
                                  : items_of_namespace * round_up(pods, pods_of_namespace);
    const std::size_t items = items_size();
    if (encoding == Encoding::protobuf) {
        protozero::write_varint(std::back_inserter(head_), tail_.size() + items);
        head_ += tail_;  // the metadata
        tail_.clear();
    }
    bytes_ = head_.size() + items + tail_.size();
}

void ObjectList::read_json() {
    const Resource& resource = resource_of(kind_);
    const std::string list = recorded(std::string(resource.plural) + ".json.gz");
    head_ = R"({"kind":")" + std::string(resource.kind) + R"(List","apiVersion":")" +
            api_version(resource) + R"(","metadata":{"resourceVersion":")" +
            std::string(list_version) + R"("},"items":[)";
    tail_ = "]}\n";
    const std::size_t end = list.rfind(']');
    constexpr std::string_view start = R"(,{"metadata":{"name":")";
    for (std::size_t at = list.find("\"items\":[") + 8; at < end;) {
        const std::size_t next = std::min(end, list.find(start, at + 1));
        std::string item = list.substr(at, next - at);
        item.front() = ',';
        add_item(item, std::string_view(item).substr(1));
        at = next;
    }
}

void ObjectList::read_protobuf() {
    const Resource& resource = resource_of(kind_);
    const std::string list = recorded(std::string(resource.plural) + ".pb.gz");
    head_ = enveloped(resource, "List", {});
    head_.pop_back();  // the length 0
    std::string version;
    protozero::pbf_writer(version).add_bytes(2, list_version.data(), list_version.size());
    protozero::pbf_writer(tail_).add_message(1, version);
    for_each_field(content_of(std::string_view(list).substr(4), 2), [&](const Field& field) {
        if (field.number == item_field) add_item(field.whole, field.content);
    });
}

void ObjectList::add_item(std::string_view whole, std::string_view object) {
    // Objects outside the recorded namespaces belong to the API server itself.
    const bool namespaced = resource_of(kind_).namespaced;
    if (namespaced && object.find("ns-0") == std::string_view::npos) return;
    const std::size_t begin = text_.size();
    text_ += whole;
    items_.push_back({begin, text_.size() - object.size(), text_.size(), 0, 0});
}

void ObjectList::find_places(std::string_view prefix, std::size_t digits, What what) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    for (auto at = text_.find(prefix); at != std::string::npos; at = text_.find(prefix, at + 1)) {
        const char before = text_[at - 1];
        const std::string number = text_.substr(at + prefix.size(), digits);
        const bool begins = before == '"' || before < ' ' || what == What::address;
        if (!begins || !std::all_of(number.begin(), number.end(), is_digit)) continue;
        places_.push_back({at, what, digits == 0 ? 0 : std::stoul(number)});
    }
}

// --- copies --------------------------------------------------------------------------------------

std::size_t ObjectList::items_size() const {
    const std::size_t rest = count_ % items_.size();
    const std::size_t size =
        count_ / items_.size() * text_.size() + (rest == 0 ? 0 : items_[rest - 1].end);
    return encoding_ == Encoding::json ? size - 1 : size;  // no comma in front of the first
}

void ObjectList::append_copy(std::string& out, std::size_t copy) const {
    const std::size_t count = std::min(items_.size(), count_ - copy * items_.size());
    append_text(out, {0, count}, {0, items_[count - 1].end}, copy);
    if (encoding_ == Encoding::json && copy == 0) out.erase(0, 1);
}

void ObjectList::append_text(std::string& out, Range items, Range text, std::size_t copy) const {
    const std::size_t begin = out.size();
    out.append(text_, text.begin, text.end - text.begin);
    for (std::size_t i = items.begin; i < items.end; ++i) {
        const std::size_t end = i + 1 < items_.size() ? items_[i + 1].first_place : places_.size();
        for (std::size_t p = items_[i].first_place; p < end; ++p) {
            const std::string now = text_at(places_[p], items_[i], copy);
            out.replace(begin + places_[p].offset - text.begin, now.size(), now);
        }
    }
}

std::string ObjectList::text_at(const Place& place, const Item& item, std::size_t copy) const {
    const bool of_pods = kind_ == Kind::pod;
    const std::size_t pod_copy = of_pods ? copy
                                         : copy * namespaces_of_copy / pod_namespaces_of_copy +
                                               item.namespace_ / pod_namespaces_of_copy;
    switch (place.what) {
        case What::address:
            // Nodes keep theirs: nothing refers to them.
            if (kind_ == Kind::node) return "10.64.";
            return "10." + digits(64 + pod_copy % 36, 2) + ".";
        case What::namespace_: {
            if (of_pods && namespace_size_ != pods_of_namespace) {
                const auto index = static_cast<std::size_t>(&item - items_.data());
                return namespace_name((copy * items_.size() + index) / namespace_size_);
            }
            const std::size_t of_copy = of_pods ? pod_namespaces_of_copy : namespaces_of_copy;
            return namespace_name(place.number + copy * of_copy);
        }
        case What::node: break;
    }
    const std::size_t nodes = kind_ == Kind::node ? copy : node_copy(pod_copy);
    return "node-" + digits(place.number + nodes * nodes_of_copy, 5);
}

void ObjectList::append_event(std::string& out, std::size_t number, std::string_view value,
                              std::size_t revision) const {
    const std::size_t index = number % items_.size();
    const Item& item = items_[index];
    std::string object;
    append_text(object, {index, index + 1}, {item.object, item.end}, number / items_.size());
    if (value.size() != changed_label(kind_).value_size) std::abort();
    const auto append = encoding_ == Encoding::json ? append_json_event : append_protobuf_event;
    append(out, kind_, object, value, revision);
}

}  // namespace bench
