#include "cluster.hpp"

#include <zlib.h>
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

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

}  // namespace

Cluster::Cluster(std::size_t pods) {
    constexpr std::size_t page_size = 2000;
    const std::string list = recorded("pods.json.gz");
    const std::size_t begin = list.find("\"items\":[") + 9;
    const std::string items = list.substr(begin, list.rfind(']') - begin);
    parts_.reserve(pods / page_size + 3);
    parts_.push_back(
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"23537"},"items":[)");
    for (std::size_t page = 0; items_.size() < pods; ++page) add_page(items, page);
    parts_.push_back("]}\n");
    for (const std::string& part : parts_) list_bytes_ += part.size();
}

void Cluster::add_page(std::string_view items, std::size_t page) {
    std::string copy(page == 0 ? "" : ",");
    const std::size_t comma = copy.size();
    copy += items;
    // The recorded page has the namespaces ns-000 to ns-003 and addresses from 10.64.0.1 on.
    for (std::size_t i = 4; i-- > 0;) {
        replace_all(copy, "\"ns-00" + std::to_string(i) + "\"",
                    "\"ns-" + digits(page * 4 + i, 3) + "\"");
    }
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

void Cluster::append_event(std::string& out, std::size_t pod, std::size_t revision) const {
    out += R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",)";
    const std::size_t begin = out.size();
    out += items_[pod % items_.size()].substr(1);
    constexpr std::string_view label = R"("bench.example.com/rev":")";
    const std::size_t at = out.find(label, begin) + label.size();
    out.replace(at, 9, digits(revision, 9));
    // Each change has a version of its own, behind that of the list.
    constexpr std::string_view version = R"("resourceVersion":")";
    const std::size_t first = out.find(version, begin) + version.size();
    out.replace(first, out.find('"', first) - first, std::to_string(1'000'000 + revision));
    out += "}\n";
}

}  // namespace bench
