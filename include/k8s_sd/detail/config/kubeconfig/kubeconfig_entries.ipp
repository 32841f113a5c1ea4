#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

inline constexpr char not_utf8 = '\xff';

/// \param high  the index of the higher byte in a pair
inline std::string from_utf16(std::string_view bytes, std::size_t high) {
    const auto unit = [&](std::size_t i) {
        const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
        return std::uint32_t{byte(i + high)} << 8U | byte(i + 1 - high);
    };
    const auto half = [](std::uint32_t code) { return code >> 10U; };
    std::string text;
    std::size_t i = 0;
    for (; i + 2 <= bytes.size(); i += 2) {
        const std::uint32_t code = unit(i);
        if (half(code) == 0xd800U >> 10U && i + 4 <= bytes.size() &&
            half(unit(i + 2)) == 0xdc00U >> 10U) {
            i += 2;
            append_utf8(text, 0x10000U + ((code & 0x3ffU) << 10U | (unit(i) & 0x3ffU)));
        } else if (code >> 11U == 0xd800U >> 11U) {
            text += not_utf8;
        } else {
            append_utf8(text, code);
        }
    }
    if (i != bytes.size()) text += not_utf8;
    return text;
}

/// Converts a text file to UTF-8 without byte order mark: from UTF-8, or from UTF-16 with such a
/// mark, as written by some Windows programs. Malformed UTF-16 becomes malformed UTF-8.
inline std::string text_of_file(std::string_view bytes) {
    if (bytes.starts_with("\xff\xfe")) return from_utf16(bytes.substr(2), 1);
    if (bytes.starts_with("\xfe\xff")) return from_utf16(bytes.substr(2), 0);
    return std::string(without_byte_order_mark(bytes));
}

namespace {

KubeconfigEntries read_entries(const YamlValue& root, std::string_view list, std::string_view body,
                               const std::filesystem::path& directory) {
    KubeconfigEntries result;
    for (const YamlValue& item : root[list].items()) {
        if (item.is_null()) continue;  // kubectl reads it as an entry without a name
        const std::string name = item["name"].string();
        if (name.empty()) item.fail("has no name");
        if (!result.emplace(name, KubeconfigEntry{item[body], directory}).second) {
            item["name"].fail("there is an entry of this name already");
        }
    }
    return result;
}

/// The file may be another Kubernetes file by mistake.
void check_kind(const YamlValue& root) {
    if (!root["kind"].is_empty() && root["kind"].string() != "Config") {
        root["kind"].fail("is not that of a kubeconfig, which is Config");
    }
    if (!root["apiVersion"].is_empty() && root["apiVersion"].string() != "v1") {
        root["apiVersion"].fail("is not that of a kubeconfig, which is v1");
    }
}

}  // namespace

std::string KubeconfigEntry::path(std::string_view key) const {
    const std::string value = body[key].string();
    if (value.find('\0') != std::string::npos) body[key].fail("must not contain a NUL character");
    return value.empty() ? value : (directory / value).string();
}

void MergedKubeconfig::merge(const KubeconfigFile& file) {
    const YamlValue root = YamlValue::parse(text_of_file(file.content), file.path);
    const auto directory = std::filesystem::path(file.path).parent_path();
    check_kind(root);
    // std::map::merge() keeps existing entries.
    clusters.merge(read_entries(root, "clusters", "cluster", directory));
    users.merge(read_entries(root, "users", "user", directory));
    contexts.merge(read_entries(root, "contexts", "context", directory));
    if (current_context.empty()) current_context = root["current-context"].string();
}

const KubeconfigEntry& find_entry(const KubeconfigEntries& entries, const YamlValue& reference) {
    if (reference.is_empty()) reference.fail("is missing; " + list_names(entries));
    const auto found = entries.find(reference.string());
    if (found == entries.end()) reference.fail("there is no such entry; " + list_names(entries));
    return found->second;
}

std::string join_first(const std::vector<std::string>& names) {
    constexpr std::size_t max_names = 10;
    if (names.size() <= max_names) return join(names);
    return join(std::vector<std::string>(names.begin(), names.begin() + max_names)) + " and " +
           std::to_string(names.size() - max_names) + " more";
}

std::string list_names(const KubeconfigEntries& entries) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries) names.push_back(printable(name));
    return "the kubeconfig has " + (names.empty() ? "none" : join_first(names));
}

}  // namespace k8s_sd::inline v0::detail
