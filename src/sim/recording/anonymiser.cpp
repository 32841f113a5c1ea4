#include "sim/recording/anonymiser.hpp"

#include "sim/recording/recording_format.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::sim {

namespace {

namespace ip = boost::asio::ip;

/// Words without a name in them: values that rules of relabelling compare with, values of
/// annotations that change targets, and the words of errors of API servers, which watches read as
/// well. Sorted.
constexpr auto kept_words = std::to_array<std::string_view>({
    "API",       "DELETED",    "Failed",    "IPv4",         "IPv6",
    "Internal",  "None",       "Pending",   "Running",      "Succeeded",
    "TCP",       "Too",        "UDP",       "Unauthorized", "Unknown",
    "User",      "a",          "access",    "admin",        "already",
    "an",        "and",        "are",       "at",           "authorization",
    "be",        "bookmark",   "by",        "cannot",       "com",
    "compacted", "connection", "continue",  "could",        "create",
    "deadline",  "decode",     "default",   "denied",       "does",
    "error",     "etcdserver", "exceeded",  "expired",      "false",
    "field",     "find",       "for",       "forbidden",    "found",
    "get",       "group",      "grpc",      "has",          "health",
    "http",      "https",      "in",        "initializing", "internal",
    "invalid",   "io",         "is",        "json",         "k8s",
    "kube",      "kubernetes", "label",     "large",        "limit",
    "list",      "local",      "many",      "metrics",      "missing",
    "namespace", "no",         "not",       "of",           "off",
    "old",       "on",         "or",        "parameter",    "please",
    "provided",  "re",         "request",   "requested",    "requests",
    "required",  "resource",   "resources", "revision",     "scope",
    "selector",  "server",     "service",   "storage",      "svc",
    "system",    "the",        "to",        "token",        "too",
    "true",      "truncated",  "try",       "unable",       "unknown",
    "version",   "warning",    "watch",     "yes",
});
static_assert(std::is_sorted(kept_words.begin(), kept_words.end()));

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
    // Bytes of other alphabets are parts of words, too.
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 128;
}
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_kept(std::string_view word) {
    return std::all_of(word.begin(), word.end(), is_digit) ||
           std::binary_search(kept_words.begin(), kept_words.end(), word);
}

/// One word of an enumeration: "ClusterIP", "CrashLoopBackOff", "ADDED".
bool is_constant(std::string_view text) {
    return text.size() <= 40 && !text.empty() && text.front() >= 'A' && text.front() <= 'Z' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_digit(c) || (is_letter(c) && static_cast<unsigned char>(c) < 128);
           });
}

bool has_form(std::string_view text, std::string_view form) {
    return text.size() >= form.size() &&
           std::equal(form.begin(), form.end(), text.begin(), [](char x, char c) {
               return x == '0' ? is_digit(c) : x == 'x' ? is_hex(c) : x == c;
           });
}

/// Values with a meaning in Kubernetes' API, which name nothing of a user.
bool is_of_the_api(std::string_view key, std::string_view text) {
    constexpr auto constants = std::to_array<std::string_view>(
        {"addressType", "effect", "from", "ipFamilyPolicy", "kind", "method", "mode", "operator",
         "pathType", "phase", "protocol", "reason", "restartPolicy", "status", "type", "verb"});
    static_assert(std::is_sorted(constants.begin(), constants.end()));
    if (is_constant(text) && std::binary_search(constants.begin(), constants.end(), key))
        return true;
    if (key == "apiVersion" || key == "group" || key == "apiGroup") return true;
    if (key == "uid")
        return has_form(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") && text.size() == 36;
    // Times.
    constexpr std::string_view digits = "0123456789TZ:.+-";
    return has_form(text, "0000-00-00T00:00:00") && text.find_first_not_of(digits) == text.npos;
}

/// Takes the text up to the separator off, and the separator.
std::string_view take_until(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

bool has_name(std::string_view line, std::string_view name) {
    return equal_names(line.substr(0, line.find(':')), name);
}

/// A character of a percent-encoded text, and its size there.
std::pair<char, std::size_t> character_at(std::string_view text, std::size_t at) {
    if (text[at] == '+') return {' ', 1};
    if (text[at] != '%' || at + 3 > text.size()) return {text[at], 1};
    const auto digit = [](char c) { return is_digit(c) ? c - '0' : (c | 32) - 'a' + 10; };
    if (!is_hex(text[at + 1]) || !is_hex(text[at + 2])) return {text[at], 1};
    return {static_cast<char>(digit(text[at + 1]) * 16 + digit(text[at + 2])), 3};
}

/// Requests for JSON have these ranges of the header only.
std::string json_ranges(std::string_view ranges) {
    std::string result;
    while (!ranges.empty()) {
        const std::string_view range = take_until(ranges, ',');
        if (range.find("json") == range.npos) continue;
        result += (result.empty() ? "" : ",") + std::string(range);
    }
    return result.empty() ? "application/json" : result;
}

}  // namespace

/// Reads the words of one text.
class Anonymiser::Reader {
 public:
    Reader(std::string_view text, Escapes escapes) : text_(text), escapes_(escapes) {}

    bool at_end() const { return at_ == text_.size(); }
    /// A character that is no part of a word, with its escape; empty before a word.
    std::string_view take_separator() {
        const char c = text_[at_];
        if (is_letter(c) || is_digit(c) || is_unicode_escape(at_)) return {};
        std::size_t size = 1;
        if (c == '\\' && escapes_ == Escapes::json) size = 2;
        if (c == '%' && (escapes_ == Escapes::percent || is_percent_escape())) size = 3;
        return take(size);
    }
    std::string_view take_word() {
        std::size_t end = at_;
        while (end < text_.size()) {
            if (is_letter(text_[end]) || is_digit(text_[end])) {
                ++end;
            } else if (is_unicode_escape(end)) {
                end += 6;
            } else {
                break;
            }
        }
        return take(begin_of_address(end) - at_);
    }
    /// Empty: no address begins here.
    std::string_view take_address_v4() { return take(size_of_address_v4(at_)); }
    /// The address in its usual form.
    std::optional<std::string> take_address_v6() {
        const std::size_t size = size_of_address_v6(at_);
        if (size == 0) return std::nullopt;
        return ip::make_address_v6(std::string(take(size))).to_string();
    }

 private:
    /// Also in other texts, such as the URL in an annotation.
    bool is_percent_escape() const {
        return at_ + 3 <= text_.size() && is_hex(text_[at_ + 1]) && is_hex(text_[at_ + 2]);
    }
    /// A word may end with the first number of an address, as in eth10.0.0.1.
    /// \param end  of the word
    /// \returns the begin of the address, or the end
    std::size_t begin_of_address(std::size_t end) const {
        constexpr std::size_t max_digits = 4;
        const std::size_t first = end - std::min(end - at_ - 1, max_digits);
        for (std::size_t begin = first; begin < end; ++begin) {
            if (is_digit(text_[begin - 1])) continue;
            if (size_of_address_v4(begin) > end - begin || size_of_address_v6(begin) > end - begin)
                return begin;
        }
        return end;
    }
    /// Four numbers below 256 between three dots, or as in ip-10-0-3-18; 0: no such.
    std::size_t size_of_address_v4(std::size_t from) const {
        std::size_t at = from;
        char separator = 0;
        for (int part = 0; part < 4; ++part) {
            if (part > 0) {
                if (at == text_.size() || (text_[at] != '.' && text_[at] != '-')) return 0;
                if (part > 1 && text_[at] != separator) return 0;
                separator = text_[at++];
            }
            int number = 0;
            const std::size_t begin = at;
            while (at < text_.size() && is_digit(text_[at]) && at - begin < 4) {
                number = number * 10 + (text_[at++] - '0');
            }
            if (at == begin || number > 255) return 0;
        }
        // A name may go on with letters: db-1-2-3-4f.
        if (separator == '-' && at < text_.size() && is_letter(text_[at])) return 0;
        return at - from;
    }
    /// At least two colons; 0: no address.
    std::size_t size_of_address_v6(std::size_t from) const {
        std::size_t end = from;
        while (end < text_.size() &&
               (is_hex(text_[end]) || text_[end] == ':' || text_[end] == '.')) {
            ++end;
        }
        // The end of a sentence, or of a part of it.
        while (end > from &&
               (text_[end - 1] == '.' ||
                (text_[end - 1] == ':' && !text_.substr(from, end - from).ends_with("::"))))
            --end;
        const std::string_view all = text_.substr(from, end - from);
        if (std::count(all.begin(), all.end(), ':') < 2) return 0;
        if (end < text_.size() && is_letter(text_[end])) return 0;
        boost::system::error_code ec;
        ip::make_address_v6(std::string(all), ec);
        return ec ? 0 : all.size();
    }
    bool is_unicode_escape(std::size_t at) const {
        return escapes_ == Escapes::json && at + 6 <= text_.size() && text_[at] == '\\' &&
               text_[at + 1] == 'u';
    }
    std::string_view take(std::size_t size) {
        const std::string_view part = text_.substr(at_, size);
        at_ += part.size();
        return part;
    }

    const std::string_view text_;
    const Escapes escapes_;
    std::size_t at_ = 0;
};

std::string Anonymiser::text(std::string_view original, Escapes escapes) {
    Reader reader(original, escapes);
    std::string result;
    while (!reader.at_end()) {
        if (const auto address = reader.take_address_v6()) {
            result += address_v6(*address);
        } else if (const auto separator = reader.take_separator(); !separator.empty()) {
            result += separator;
        } else if (const auto v4 = reader.take_address_v4(); !v4.empty()) {
            result += address_v4(v4);
        } else {
            result += word(reader.take_word());
        }
    }
    return result;
}

void Anonymiser::append_json(std::string_view original, std::string& to) {
    constexpr std::size_t max_size = 256;
    constexpr std::size_t max_texts = std::size_t{1} << 16;
    if (original.size() <= max_size) {
        const std::lock_guard lock(mutex_);
        const auto found = json_.find(original);
        if (found != json_.end()) {
            to += found->second;
            return;
        }
    }
    const std::string replacement = text(original, Escapes::json);
    to += replacement;
    if (original.size() > max_size) return;
    const std::lock_guard lock(mutex_);
    if (json_.size() >= max_texts) json_.clear();
    json_.emplace(original, replacement);
}

std::string Anonymiser::word(std::string_view original) {
    if (is_kept(original)) return std::string(original);
    const std::lock_guard lock(mutex_);
    const auto found = words_.find(original);
    if (found != words_.end()) return found->second;
    std::string replacement = "w" + std::to_string(words_.size() + 1);
    on_new_(replacement, original);
    words_.emplace(original, replacement);
    return replacement;
}

std::string Anonymiser::address_v4(std::string_view original) {
    const std::size_t first = original.find_first_not_of("0123456789");
    const char separator = original[first];
    std::string key(original);
    std::replace(key.begin(), key.end(), separator, '.');
    if (key == "127.0.0.1" || key == "0.0.0.0") return std::string(original);
    const std::lock_guard lock(mutex_);
    std::string& replacement = addresses_v4_[key];
    if (replacement.empty()) {
        const auto number = static_cast<std::uint32_t>(addresses_v4_.size());
        replacement = ip::address_v4((10U << 24) + (number & 0xFFFFFFU)).to_string();
        on_new_(replacement, key);
    }
    std::string result = replacement;
    std::replace(result.begin(), result.end(), '.', separator);
    return result;
}

std::string Anonymiser::address_v6(const std::string& key) {
    if (key == "::" || key == "::1") return key;
    const std::lock_guard lock(mutex_);
    std::string& replacement = addresses_v6_[key];
    if (replacement.empty()) {
        const std::size_t number = addresses_v6_.size();
        ip::address_v6::bytes_type bytes{0xFD};
        for (std::size_t i = 0; i < 4; ++i) {
            bytes[15 - i] = static_cast<unsigned char>(number >> (8 * i));
        }
        replacement = ip::address_v6(bytes).to_string();
        on_new_(replacement, key);
    }
    return replacement;
}

std::string Anonymiser::requirement(std::string_view path, std::string_view escaped) {
    const std::string_view field = path.substr(path.rfind('.') + 1);
    std::size_t value = 0;
    while (value < escaped.size()) {
        const auto [c, size] = character_at(escaped, value);
        if (c != '=' && c != '!') break;
        value += size;
    }
    if (is_of_the_api(field, escaped.substr(value))) return std::string(escaped);
    return text(escaped, Escapes::percent);
}

std::string Anonymiser::selector(std::string_view escaped, bool of_fields) {
    std::string result;
    std::size_t at = 0;
    while (at < escaped.size()) {
        // The key ends with an operator; the words "in" and "notin" are kept ones, or follow.
        const std::size_t begin = at;
        bool has_begun = false;
        while (at < escaped.size()) {
            const auto [c, size] = character_at(escaped, at);
            const bool is_key =
                is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '/';
            if (has_begun && !is_key) break;
            has_begun = has_begun || is_key;
            at += size;
        }
        for (const std::string_view name : {"notin", "in"}) {
            std::size_t word = at;
            while (word < escaped.size() && character_at(escaped, word).first == ' ') {
                word += character_at(escaped, word).second;
            }
            if (word > at && escaped.substr(word).starts_with(name)) {
                at = word + name.size();
                break;
            }
        }
        const std::string_view key = escaped.substr(begin, at - begin);
        result += key;
        const std::size_t values = at;
        for (int depth = 0; at < escaped.size();) {
            const auto [c, size] = character_at(escaped, at);
            if (c == ',' && depth == 0) break;
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            at += size;
        }
        const std::string_view rest = escaped.substr(values, at - values);
        result += of_fields ? requirement(key, rest) : text(rest, Escapes::percent);
        if (at < escaped.size()) {
            const std::size_t size = character_at(escaped, at).second;
            result += escaped.substr(at, size);
            at += size;
        }
    }
    return result;
}

std::string Anonymiser::target(std::string_view target) {
    std::string_view query = target;
    std::string_view path = take_until(query, '?');
    // Before these parts there may be a prefix of the server.
    const std::size_t api = std::min({path.find("/api/"), path.find("/apis/"), path.rfind('/')});
    path.remove_prefix(std::min(api + 1, path.size()));
    std::string result;
    const auto add = [&](std::string_view part) { (result += '/') += part; };
    const std::string_view root = take_until(path, '/');
    add(root);
    // Group and version, or the version.
    for (int i = root == "apis" ? 2 : 1; i > 0 && !path.empty(); --i) add(take_until(path, '/'));
    for (bool is_resource = true; !path.empty(); is_resource = !is_resource) {
        const std::string_view part = take_until(path, '/');
        add(is_resource ? std::string(part) : text(part, Escapes::percent));
    }
    for (char separator = '?'; !query.empty(); separator = '&') {
        std::string_view value = take_until(query, '&');
        const std::string_view name = take_until(value, '=');
        ((result += separator) += name) += '=';
        if (name == "labelSelector" || name == "fieldSelector") {
            result += selector(value, name == "fieldSelector");
        } else if (name == "continue" || name == "resourceVersion") {
            result += text(value, Escapes::percent);
        } else {
            result += value;
        }
    }
    return result;
}

std::string Anonymiser::request(std::string_view request) {
    std::string_view line = first_line(request);
    const std::string_view rest = request.substr(line.size());
    std::string result(take_until(line, ' '));
    ((result += ' ') += target(take_until(line, ' '))) += ' ';
    return (result += line) += rest;
}

std::string request_for_json(std::string_view request) {
    const std::size_t end = std::min(request.find("\r\n\r\n"), request.size());
    std::string result;
    for (std::string_view head = request.substr(0, end); !head.empty();) {
        const std::string_view line = first_line(head);
        head.remove_prefix(std::min(line.size() + 2, head.size()));
        if (!result.empty()) result += "\r\n";
        if (has_name(line, "Accept")) {
            const std::size_t value = std::min(line.find_first_not_of(' ', 7), line.size());
            result += "Accept: " + json_ranges(line.substr(value));
        } else if (has_name(line, "Accept-Encoding")) {
            result += "Accept-Encoding: identity";
        } else {
            result += line;
        }
    }
    return result.append(request.substr(end));
}

namespace {

/// Keys of maps with names of users, such as the keys of labels.
bool has_names(std::string_view key) {
    constexpr std::array<std::string_view, 10> keys{
        "annotations", "binaryData",   "data",     "deprecatedTopology", "labels",
        "matchLabels", "nodeSelector", "selector", "stringData",         "topology"};
    return std::binary_search(keys.begin(), keys.end(), key);
}

/// Arrays without use for discovery, with secrets or keys made of names.
bool is_left_out(std::string_view key) {
    return key == "managedFields" || key == "env" || key == "envFrom" || key == "args" ||
           key == "command";
}

/// An annotation with a copy of the object, its environment variables and arguments included.
constexpr std::string_view applied_object = "kubectl.kubernetes.io/last-applied-configuration";

constexpr std::size_t max_string = std::size_t{1} << 20;
constexpr std::size_t max_literal = 40;

bool is_bracket(char c) { return c == '[' || c == ']' || c == '{' || c == '}'; }

/// A number, or a word of JSON.
bool is_literal(std::string_view text) {
    return text.find_first_not_of("0123456789+-.eE") == text.npos || text == "true" ||
           text == "false" || text == "null";
}

}  // namespace

std::string JsonAnonymiser::feed(std::string_view bytes) {
    out_.reserve(bytes.size());
    while (!bytes.empty() && !is_broken_) {
        if (in_string_) {
            take_string(bytes);
        } else if (skipped_ > 0) {
            take_left_out(bytes);
        } else {
            take(bytes.front());
            bytes.remove_prefix(1);
        }
    }
    return std::exchange(out_, {});
}

void JsonAnonymiser::take_string(std::string_view& bytes) {
    std::size_t size = 0;
    if (escaped_) {
        escaped_ = false;
        size = 1;
    } else {
        while (size < bytes.size() && bytes[size] != '"' && bytes[size] != '\\') ++size;
    }
    const bool ends = size < bytes.size() && bytes[size] == '"';
    const bool escapes = !ends && size < bytes.size() && bytes[size] == '\\';
    if (escapes) ++size;
    if (skipped_ == 0) string_ += bytes.substr(0, std::min(size, max_string - string_.size()));
    escaped_ = escapes;
    bytes.remove_prefix(size + (ends ? 1 : 0));
    if (ends) end_string();
}

void JsonAnonymiser::take_left_out(std::string_view& bytes) {
    std::size_t at = 0;
    while (at < bytes.size() && bytes[at] != '"' && !is_bracket(bytes[at])) ++at;
    if (at < bytes.size()) {
        const char c = bytes[at++];
        in_string_ = c == '"';
        if (c == '[' || c == '{') ++skipped_;
        if ((c == ']' || c == '}') && --skipped_ == 0) out_ += ']';
    }
    bytes.remove_prefix(at);
}

void JsonAnonymiser::take(char c) {
    if (is_digit(c) || is_letter(c) || c == '-' || c == '+' || c == '.') {
        literal_ += c;
        is_broken_ = literal_.size() > max_literal;
        return;
    }
    take_punctuation(c);
}

void JsonAnonymiser::take_punctuation(char c) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    const bool is_mark = c == '"' || c == ',' || c == ':' || is_bracket(c);
    // Whatever is no JSON may be text in disorder, so it must not be recorded.
    is_broken_ = (!is_mark && !is_blank) || (!literal_.empty() && !is_literal(literal_)) ||
                 (expects_colon_ && !is_blank && c != ':');
    if (is_broken_) return;
    if (!literal_.empty()) out_ += std::exchange(literal_, {});
    if (c == '"') {
        in_string_ = true;
        return;
    }
    if (c == '{' || c == '[') return open(c);
    Level* const here = level();
    if (here && (c == '}' || c == ']')) --depth_;
    if (here && c == ',') here->expects_key = here->is_object;
    if (here && c == ':') {
        if (std::exchange(expects_colon_, false)) ((out_ += '"') += here->key) += '"';
        here->expects_key = false;
    }
    out_ += c;
}

void JsonAnonymiser::open(char c) {
    out_ += c;
    if (levels_.size() == depth_) levels_.emplace_back();
    const Level* const above = level();
    if (c == '[' && above && above->is_object && !above->has_user_keys && is_left_out(above->key)) {
        skipped_ = 1;
        return;
    }
    Level& inner = levels_[depth_++];
    inner.is_object = inner.expects_key = c == '{';
    inner.has_user_keys =
        above && (above->has_user_keys || (above->is_object && has_names(above->key)));
    inner.key.clear();
    if (above && c == '[') inner.key = above->key;  // of each value of the array
}

void JsonAnonymiser::end_string() {
    in_string_ = false;
    if (skipped_ > 0) return;
    if (string_.size() == max_string) string_.clear();  // its end is missing
    if (Level* const here = level(); here && here->expects_key) {
        here->key.swap(string_);
        expects_colon_ = true;
    } else {
        out_ += '"';
        add_value();
        out_ += '"';
    }
    string_.clear();
}

void JsonAnonymiser::add_value() {
    const Level* const here = level();
    const std::string_view key = here ? std::string_view(here->key) : std::string_view();
    const bool is_users = here && here->has_user_keys;
    if (is_users && key == applied_object) return;
    const bool stays = content_ == Content::documents ? key != "serverAddress"
                                                      : !is_users && is_of_the_api(key, string_);
    if (stays) {
        out_ += string_;
    } else {
        names_.append_json(string_, out_);
    }
}

}  // namespace k8s_sd::inline v0::sim
