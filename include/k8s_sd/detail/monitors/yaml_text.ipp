#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

namespace k8s_sd::inline v0 {

namespace {

/// Writes block style. Texts are in double quotes, which YAML and JSON escape alike, so that no
/// text reads as another type.
class YamlWriter {
 public:
    std::string write(const boost::json::value& value) {
        write_value(value, 0);
        text_ += '\n';
        return std::move(text_);
    }

 private:
    static bool is_block(const boost::json::value& value) {
        if (const auto* list = value.if_array()) return !list->empty();
        if (const auto* object = value.if_object()) return !object->empty();
        return false;
    }
    static bool is_plain_key(std::string_view key) {
        for (const char c : key) {
            const bool word = (c >= 'a' && c <= 'z') || c == '_';
            if (!word) return false;
        }
        return key.size() > 3;  // shorter ones may be words of YAML, such as "no"
    }

    void indent(std::size_t depth) { text_.append(2 * depth, ' '); }

    void write_value(const boost::json::value& value, std::size_t depth) {
        if (!is_block(value)) {
            text_ += value.is_double() ? detail::decimal_text(value.get_double())
                                       : boost::json::serialize(value);
        } else if (const auto* list = value.if_array()) {
            write_list(*list, depth);
        } else {
            write_object(value.get_object(), depth);
        }
    }

    /// \param depth  of the items; the first one stands at the present position
    void write_list(const boost::json::array& list, std::size_t depth) {
        bool first = true;
        for (const boost::json::value& item : list) {
            if (!first) {
                text_ += '\n';
                indent(depth);
            }
            first = false;
            text_ += "- ";
            write_value(item, depth + 1);
        }
    }

    void write_object(const boost::json::object& object, std::size_t depth) {
        bool first = true;
        for (const auto& [key, value] : object) {
            if (!first) {
                text_ += '\n';
                indent(depth);
            }
            first = false;
            const std::string_view name(key.data(), key.size());
            text_ += is_plain_key(name) ? std::string(name)
                                        : boost::json::serialize(boost::json::string_view(key));
            text_ += ':';
            write_member(value, depth);
        }
    }

    void write_member(const boost::json::value& value, std::size_t depth) {
        if (!is_block(value)) {
            text_ += ' ';
            return write_value(value, depth);
        }
        // A list stands below its key, without further indentation.
        const std::size_t inner = value.is_array() ? depth : depth + 1;
        text_ += '\n';
        indent(inner);
        write_value(value, inner);
    }

    std::string text_;
};

}  // namespace

std::string to_yaml(const boost::json::value& value) { return YamlWriter().write(value); }

}  // namespace k8s_sd::inline v0
