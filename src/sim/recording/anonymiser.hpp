#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
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
    /// Appends text() of the content of a string in JSON. Most repeat earlier ones.
    void append_json(std::string_view, std::string& to);
    /// Names in the path and in selectors; without the path prefix of the server.
    std::string request(std::string_view request);

 private:
    class Reader;
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    using Replacements = boost::unordered_flat_map<std::string, std::string, Hash, std::equal_to<>>;

    std::string word(std::string_view original);
    std::string address_v4(std::string_view key);
    std::string address_v6(const std::string& key);
    std::string selector(std::string_view escaped, bool of_fields);
    /// Operator and value of a field selector: the value stays if it stays in objects.
    std::string requirement(std::string_view path, std::string_view escaped);
    std::string target(std::string_view);

    const OnNew on_new_;
    std::mutex mutex_;
    Replacements words_;
    Replacements addresses_v4_;
    Replacements addresses_v6_;
    Replacements json_;  ///< recent whole texts
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

    /// Each takes the bytes of its state off, or some of them.
    void take_string(std::string_view& bytes);
    void take_left_out(std::string_view& bytes);
    void take(char);
    void take_punctuation(char);
    void end_string();
    void open(char);
    Level* level() noexcept { return depth_ == 0 ? nullptr : &levels_[depth_ - 1]; }
    void add_value();

    Anonymiser& names_;
    const Content content_;
    std::string out_;
    std::vector<Level> levels_;  ///< the first `depth_` ones; the others keep their memory
    std::size_t depth_ = 0;
    std::string string_;          ///< raw, without quotes
    std::string literal_;         ///< a number or a word, as far as read
    bool expects_colon_ = false;  ///< after the key of the level
    bool is_broken_ = false;
    bool in_string_ = false;
    bool escaped_ = false;     ///< the next character of the string
    std::size_t skipped_ = 0;  ///< depth within a left-out array
};

}  // namespace k8s_sd::inline v0::sim
