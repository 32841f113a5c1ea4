#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// Replaces words and addresses, each by the same replacement everywhere, and different ones by
/// different ones. So names with a common part, selectors, references and host names still fit.
/// Numbers and common words of Kubernetes stay. Thread-safe.
class Anonymiser {
 public:
    /// The meaning of `%` and `\`.
    enum class Escapes : std::uint8_t { none, percent, json };
    /// Called once for each replacement, under a mutex.
    using OnNew = std::function<void(std::string_view replacement, std::string_view original)>;

    explicit Anonymiser(OnNew on_new) : on_new_(std::move(on_new)) {}

    /// Words of letters and digits, and addresses. Other characters stay.
    std::string text(std::string_view, Escapes = Escapes::none);
    /// Names in the path and in selectors; without the path prefix of the server.
    std::string request(std::string_view request);

 private:
    class Reader;

    std::string word(std::string_view original);
    std::string address_v4(std::string_view key);
    std::string address_v6(const std::string& key);
    std::string selector(std::string_view escaped, bool of_fields);
    /// Operator and value of a field selector: the value stays if it stays in objects.
    std::string requirement(std::string_view path, std::string_view escaped);
    std::string target(std::string_view);

    const OnNew on_new_;
    std::mutex mutex_;
    std::map<std::string, std::string, std::less<>> words_;
    std::map<std::string, std::string, std::less<>> addresses_v4_;
    std::map<std::string, std::string, std::less<>> addresses_v6_;
};

/// The request with the forms in JSON of its header `Accept` only, and without compression.
std::string request_for_json(std::string_view request);

/// Anonymises a sequence of JSON values, in pieces of any size. Keys stay, and so do values with a
/// meaning in Kubernetes' API: kinds, phases, times, versions. `managedFields`, environment
/// variables and command lines become empty arrays. Nothing is recorded from the first byte on that
/// is no JSON.
class JsonAnonymiser {
 public:
    enum class Content : std::uint8_t {
        objects,
        documents,  ///< names of groups and resources; only addresses are replaced
    };

    explicit JsonAnonymiser(Anonymiser& names, Content content = Content::objects)
        : names_(names), content_(content) {}

    /// The bytes to record in place of these. A string is held until it is complete.
    std::string feed(std::string_view bytes);

 private:
    struct Level {
        bool is_object = false;
        bool expects_key = false;
        bool has_user_keys = false;  ///< labels and the like, or inside of them
        std::string key{};
    };

    void take(char);
    void take_punctuation(char);
    void end_string();
    void open(char);
    std::string value() const;

    Anonymiser& names_;
    const Content content_;
    std::string out_;
    std::vector<Level> levels_;
    std::string string_;              ///< raw, without quotes
    std::string literal_;             ///< a number or a word, as far as read
    std::optional<std::string> key_;  ///< its colon is to come
    bool is_broken_ = false;
    bool in_string_ = false;
    bool escaped_ = false;     ///< the next character of the string
    std::size_t skipped_ = 0;  ///< depth within a left-out array
};

}  // namespace k8s_sd::inline v0::sim
