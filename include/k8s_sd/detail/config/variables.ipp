#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/variables.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Expands one text. A value is expanded once, however often it is used.
class VariableExpander {
 public:
    VariableExpander(const VariableLookup& lookup, std::size_t max_bytes)
        : lookup_(lookup), max_bytes_(max_bytes) {}

    std::string expand(std::string_view text, int depth = 0) {
        std::string result;
        for (;;) {
            const std::size_t begin = text.find("%{");
            const std::size_t end = begin == text.npos ? begin : text.find('}', begin);
            if (end == text.npos) break;
            result += text.substr(0, begin);
            result += value_of(text.substr(begin, end + 1 - begin), depth);
            check_size(result);
            text.remove_prefix(end + 1);
        }
        result += text;
        check_size(result);
        return result;
    }

 private:
    /// \param reference  "%{NAME}"
    const std::string& value_of(std::string_view reference, int depth) {
        constexpr int max_depth = 32;
        const auto known = values_.find(reference);
        if (known != values_.end()) return known->second;
        const auto value = lookup_(reference.substr(2, reference.size() - 3));
        std::string text(reference);
        if (value) {
            if (depth == max_depth) {
                throw ConfigError(
                    "variables",
                    "the values of variables refer to each other without end, or too deeply");
            }
            text = expand(*value, depth + 1);
        }
        return values_.emplace(reference, std::move(text)).first->second;
    }

    void check_size(const std::string& text) const {
        if (text.size() <= max_bytes_) return;
        throw ConfigError("variables", "the text is too large with the values of its variables");
    }

    const VariableLookup& lookup_;
    std::size_t max_bytes_;
    std::map<std::string, std::string, std::less<>> values_;
};

/// The variable's name, if it is short enough for a message.
std::string shown_variable(std::string_view text) {
    const std::size_t end = text.find('}');
    return end <= 64 ? " " + printable(text.substr(0, end + 1)) : "";
}

}  // namespace

bool may_have_variables(std::string_view text, LabelDialect dialect) {
    return rules_of(dialect).expands_variables && text.find("%{") != text.npos;
}

std::string expand_variables(std::string_view text, LabelDialect dialect,
                             const VariableLookup& lookup, const std::string& file,
                             std::size_t max_bytes) {
    if (!may_have_variables(text, dialect)) return std::string(text);
    const std::size_t first = text.find("%{");
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(first), '\n');
    const std::string place = printable(file) + ":" + std::to_string(line);
    if (!lookup) {
        throw ConfigError(place, "the text contains" + shown_variable(text.substr(first)) +
                                     ", a variable of the environment, and this program passes "
                                     "none to configuration files");
    }
    try {
        return VariableExpander(lookup, max_bytes).expand(text);
    } catch (const ConfigError& e) {
        throw ConfigError(place, e.problem());
    }
}

}  // namespace k8s_sd::inline v0::detail
