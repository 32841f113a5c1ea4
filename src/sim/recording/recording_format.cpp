#include "sim/recording/recording_format.hpp"

#include <zlib.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

namespace {

using std::chrono::microseconds;

constexpr std::size_t max_line = 100;
/// zlib's sizes have 32 bits, those of files more.
constexpr std::size_t max_input = std::size_t{1} << 16;

/// The next word of a line.
std::string_view take_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
    std::uint64_t number = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || last != word.data() + word.size()) return std::nullopt;
    return number;
}

/// Takes one part off the text; nullopt if it does not begin with a complete one.
std::optional<RecordedPart> take_part(std::string_view& text) {
    const std::size_t end = text.substr(0, max_line).find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = text.substr(0, end);
    const std::string_view kind = take_word(line);
    const auto stream = number_in(take_word(line));
    const auto time = number_in(take_word(line));
    const auto size = number_in(take_word(line));
    constexpr std::string_view kinds = "cqbex";
    constexpr std::uint64_t max_time = std::uint64_t{1} << 50;
    if (kind.size() != 1 || kinds.find(kind) == std::string_view::npos || !line.empty() ||
        !stream || !time || !size || *time > max_time) {
        return std::nullopt;
    }
    const std::string_view rest = text.substr(end + 1);
    if (*size >= rest.size() || rest[*size] != '\n') return std::nullopt;
    text = rest.substr(*size + 1);
    return RecordedPart{static_cast<RecordedPart::Kind>(kind.front()), *stream,
                        microseconds(static_cast<microseconds::rep>(*time)),
                        std::string(rest.substr(0, *size))};
}

/// Whether a header of this name, in lower case or not, is among those of the request.
bool has_header(std::string_view request, std::string_view name) {
    while (!request.empty()) {
        const std::string_view line = first_line(request);
        if (equal_names(line.substr(0, line.find(':')), name)) return true;
        request.remove_prefix(std::min(line.size() + 2, request.size()));
    }
    return false;
}

/// Method and target.
std::pair<std::string_view, std::string_view> method_and_target(std::string_view request) {
    std::string_view line = first_line(request);
    const std::string_view method = take_word(line);
    return {method, take_word(line)};
}

/// Without the prefix of the server's URL, which is not the same in a replay.
std::string_view path_of(std::string_view target) {
    const std::string_view path = target.substr(0, target.find('?'));
    const std::size_t api = std::min({path.find("/api/"), path.find("/apis/"), path.rfind('/')});
    return path.substr(std::min(api, path.size()));
}

std::string_view name_of(std::string_view parameter) {
    return parameter.substr(0, parameter.find('='));
}

/// The parameters with these names, sorted.
template <class Predicate>
std::vector<std::string_view> parameters_of(std::string_view target, Predicate is_wanted) {
    std::string_view query = target.substr(std::min(target.find('?'), target.size()));
    std::vector<std::string_view> parameters;
    while (!query.empty()) {
        query.remove_prefix(1);
        const std::string_view parameter = query.substr(0, query.find('&'));
        if (is_wanted(name_of(parameter))) parameters.push_back(parameter);
        query.remove_prefix(parameter.size());
    }
    std::sort(parameters.begin(), parameters.end());
    return parameters;
}

std::string key_of(std::string_view method, std::string_view path,
                   const std::vector<std::string_view>& parameters) {
    std::string key(method);
    key.append(" ").append(path);
    for (const std::string_view parameter : parameters) key.append(" ").append(parameter);
    return key;
}

}  // namespace

std::string_view first_line(std::string_view text) {
    return text.substr(0, std::min(text.find("\r\n"), text.size()));
}

bool equal_names(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

std::string line_of(RecordedPart::Kind kind, std::uint64_t stream, Duration time,
                    std::size_t size) {
    const auto ticks = std::chrono::duration_cast<microseconds>(time).count();
    return std::string(1, static_cast<char>(kind)) + ' ' + std::to_string(stream) + ' ' +
           std::to_string(ticks) + ' ' + std::to_string(size) + '\n';
}

bool is_recorded(std::string_view request) {
    const auto [method, target] = method_and_target(request);
    const std::string_view path = target.substr(0, target.find('?'));
    const auto has = [&](std::string_view part) { return path.find(part) != path.npos; };
    // A server may have a prefix before these paths.
    const bool is_api = has("/api/") || has("/apis/") || path.ends_with("/api") ||
                        path.ends_with("/apis") || path.ends_with("/version");
    // Lists of http_sd_configs are of other servers, and their URLs may have tokens.
    const bool is_list = has_header(request, "X-Prometheus-Refresh-Interval-Seconds");
    return method == "GET" && is_api && !has("/secrets") && !is_list;
}

bool is_for_documents(std::string_view request) {
    const std::string_view target = method_and_target(request).second;
    std::string_view path = target.substr(0, target.find('?'));
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.ends_with("/version") || path.ends_with("/api")) return true;
    // After these parts: the version, or group and version.
    std::size_t parts = 1;
    std::size_t root = path.rfind("/api/");
    if (const std::size_t apis = path.find("/apis"); apis != path.npos) {
        root = apis;
        parts = 2;
    }
    if (root == path.npos) return false;
    const std::string_view rest = path.substr(path.find('/', root + 1) + 1);
    if (path.find('/', root + 1) == path.npos) return true;
    return static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '/')) < parts;
}

std::string harmless_request(std::string_view request) {
    constexpr std::array<std::string_view, 3> kept{"Accept", "Accept-Encoding", "User-Agent"};
    std::string text;
    std::string_view rest = request.substr(0, request.find("\r\n\r\n"));
    for (bool is_first = true; !rest.empty(); is_first = false) {
        const std::string_view line = first_line(rest);
        const std::string_view name = line.substr(0, line.find(':'));
        if (is_first || std::any_of(kept.begin(), kept.end(), [&](std::string_view other) {
                return equal_names(name, other);
            })) {
            text.append(line).append("\r\n");
        }
        rest.remove_prefix(std::min(line.size() + 2, rest.size()));
    }
    return text + "\r\n";
}

std::string request_key(std::string_view request) {
    const auto [method, target] = method_and_target(request);
    return key_of(method, path_of(target), parameters_of(target, [](std::string_view name) {
                      return name != "timeoutSeconds";
                  }));
}

CollectionRequest collection_request(std::string_view request) {
    using Purpose = CollectionRequest::Purpose;
    const auto [method, target] = method_and_target(request);
    CollectionRequest result;
    const std::string_view path = path_of(target);
    result.prefix = target.substr(0, static_cast<std::size_t>(path.data() - target.data()));
    result.collection = key_of(method, path, parameters_of(target, [](std::string_view name) {
                                   return name.ends_with("Selector");
                               }));
    const auto all = parameters_of(target, [](std::string_view) { return true; });
    const auto has = [&](std::string_view parameter) {
        return std::binary_search(all.begin(), all.end(), parameter);
    };
    const auto has_name = [&](std::string_view name) {
        return std::any_of(all.begin(), all.end(),
                           [&](std::string_view parameter) { return name_of(parameter) == name; });
    };
    result.has_version = has_name("resourceVersion") && !has("resourceVersion=0");
    if (has("watch=1") || has("watch=true")) {
        result.purpose = has("sendInitialEvents=true") ? Purpose::streamed_list : Purpose::watch;
    } else if (has_name("continue")) {
        result.purpose = Purpose::page;
    } else if (!is_for_documents(request) && !has("limit=1")) {
        result.purpose = Purpose::list;
    }
    return result;
}

std::string recorded_text(std::string_view file, std::uint64_t max_text) {
    ::z_stream stream{};
    // 16: gzip.
    if (::inflateInit2(&stream, 15 + 16) != Z_OK) throw std::runtime_error("zlib cannot be used");
    const std::unique_ptr<::z_stream, int (*)(::z_stream*)> owner(&stream, &::inflateEnd);
    std::string text;
    std::array<char, 16384> buffer{};
    int result = Z_OK;
    while (result == Z_OK) {
        if (stream.avail_in == 0) {
            const std::string_view input = file.substr(0, max_input);
            file.remove_prefix(input.size());
            // zlib does not change its input.
            stream.next_in = reinterpret_cast<::Bytef*>(const_cast<char*>(input.data()));
            stream.avail_in = static_cast<::uInt>(input.size());
        }
        stream.next_out = reinterpret_cast<::Bytef*>(buffer.data());
        stream.avail_out = static_cast<::uInt>(buffer.size());
        result = ::inflate(&stream, Z_SYNC_FLUSH);
        const std::size_t size = buffer.size() - stream.avail_out;
        if (text.size() + size > max_text) {
            throw std::runtime_error("has more than " + std::to_string(max_text) +
                                     " bytes of text, which no recording has");
        }
        text.append(buffer.data(), size);
    }
    return text;
}

Recording parse_recording(std::string_view file) {
    const std::string all = recorded_text(file);
    if (!all.starts_with(recording_head)) {
        const bool is_cut = recording_head.starts_with(all) && file.size() < 64;
        if (is_cut) return {};
        throw std::runtime_error("is no recording of k8s_sd, or of a later version");
    }
    Recording recording;
    std::string_view rest = std::string_view(all).substr(recording_head.size());
    Duration last{};
    while (auto part = take_part(rest)) {
        // Parts of several threads may be a little out of order.
        last = part->time = std::max(part->time, last);
        recording.parts.push_back(std::move(*part));
    }
    if (rest == recording_complete) recording.end = RecordingEnd::complete;
    if (rest == recording_full) recording.end = RecordingEnd::full;
    return recording;
}

Recording read_recording(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad()) throw std::runtime_error(path + ": cannot be read");
    try {
        return parse_recording(bytes);
    } catch (const std::runtime_error& e) {
        throw std::runtime_error(path + ": " + e.what());
    }
}

}  // namespace k8s_sd::inline v0::sim
