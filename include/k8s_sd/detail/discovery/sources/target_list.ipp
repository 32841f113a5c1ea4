#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/detail/labels/label_shape.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr const char* whole_list = "the list";

[[noreturn]] void throw_too_long(const TargetListLimits& limits) {
    throw TargetListTooLong(whole_list,
                            "has strings of more than " + std::to_string(limits.bytes) + " bytes");
}

/// The common part of both formats.
class TargetListReader {
 public:
    TargetListReader(const DialectRules& rules, const TargetListLimits& limits)
        : rules_(rules), limits_(limits) {}

 protected:
    std::string where() const { return "group " + std::to_string(lists_.size() - 1); }

    void begin_group() {
        count(lists_.size(), limits_.targets, " groups");
        lists_.emplace_back();
    }
    void add_target(std::string_view target) {
        count(targets_++, limits_.targets, " targets");
        add_bytes(target);
        lists_.back().targets.emplace_back(target);
    }
    void add_label(std::string_view name, std::string_view value) {
        if (name.empty()) {
            if (rules_.refuses_bad_target_lists) throw ConfigError(where(), "a label has no name");
            return;
        }
        add_bytes(name);
        add_bytes(value);
        lists_.back().labels.insert_or_assign(std::string(name), std::string(value));
    }

    const DialectRules& rules_;
    const TargetListLimits& limits_;
    TargetLists lists_;

 private:
    void add_bytes(std::string_view text) {
        bytes_ += text.size();
        if (bytes_ > limits_.bytes) throw_too_long(limits_);
    }
    static void count(std::size_t before, std::size_t max, const char* what) {
        if (before >= max) {
            throw TargetListTooLong(whole_list, "has more than " + std::to_string(max) + what);
        }
    }

    std::size_t targets_ = 0;
    std::size_t bytes_ = 0;
};

// --- JSON ----------------------------------------------------------------------------------------

enum class Keys : std::uint8_t {
    exact,     ///< like YAML
    any_case,  ///< like Go's encoding/json
    others     ///< likewise, and unknown keys are ignored
};

/// Reads like Go's encoding/json: null means absent.
class JsonListReader : TargetListReader {
 public:
    JsonListReader(const DialectRules& rules, const TargetListLimits& limits, Keys keys)
        : TargetListReader(rules, limits), keys_(keys) {}

    TargetLists read(std::string_view text) {
        boost::json::monotonic_resource memory;
        boost::system::error_code error;
        const boost::json::value document = boost::json::parse(
            without_lone_surrogates(without_byte_order_mark(text)), error, &memory);
        if (error) throw ConfigError(whole_list, "is not JSON: " + error.message());
        if (document.is_null()) return {};
        const auto* groups = document.if_array();
        if (!groups) throw ConfigError(whole_list, "must be an array of groups");
        for (const boost::json::value& group : *groups) read_group(group);
        return std::move(lists_);
    }

 private:
    void read_group(const boost::json::value& group) {
        begin_group();
        if (group.is_null() && !rules_.refuses_bad_target_lists) return;
        const auto* object = group.if_object();
        if (!object) throw ConfigError(where(), "must be an object with targets and labels");
        for (const auto& member : *object) {
            const std::string_view name(member.key().data(), member.key().size());
            const std::string key = keys_ == Keys::exact ? std::string(name) : lower_case(name);
            if (key == "targets") {
                read_targets(member.value());
            } else if (key == "labels") {
                read_labels(member.value());
            } else if (keys_ != Keys::others) {
                throw ConfigError(where(), "the key " + in_quotes(printable(key)) +
                                               " is unknown; allowed are targets and labels");
            }
        }
    }
    void read_targets(const boost::json::value& value) {
        lists_.back().targets.clear();
        if (value.is_null()) return;
        const auto* targets = value.if_array();
        if (!targets) throw ConfigError(where(), "targets must be an array of strings");
        for (const boost::json::value& target : *targets) {
            add_target(text_of(target, "a target must be a string"));
        }
    }
    void read_labels(const boost::json::value& value) {
        if (value.is_null()) return;
        const auto* labels = value.if_object();
        if (!labels) throw ConfigError(where(), "labels must be an object of strings");
        for (const auto& label : *labels) {
            add_label({label.key().data(), label.key().size()},
                      text_of(label.value(), "the value of a label must be a string"));
        }
    }
    std::string_view text_of(const boost::json::value& value, const char* problem) const {
        if (value.is_null()) return {};
        const auto* text = value.if_string();
        if (!text) throw ConfigError(where(), problem);
        return {text->data(), text->size()};
    }

    const Keys keys_;
};

// --- YAML ----------------------------------------------------------------------------------------

class YamlListReader : TargetListReader {
 public:
    using TargetListReader::TargetListReader;

    TargetLists read(const YamlValue& document) {
        for (const YamlValue& group : document.items()) read_group(group);
        return std::move(lists_);
    }

 private:
    void read_group(const YamlValue& group) {
        begin_group();
        if (group.is_null() && rules_.refuses_bad_target_lists) {
            group.fail("a group must not be empty");
        }
        for (const auto& [key, value] : group.entries()) {
            if (key == "targets") {
                for (const YamlValue& target : value.items()) add_target(target.string());
            } else if (key == "labels") {
                for (const auto& [name, text] : value.entries()) add_label(name, text.string());
            } else {
                value.fail("unknown key; allowed are targets and labels");
            }
        }
    }
};

const std::string* address_label(const StaticConfig& list) {
    const auto label = list.labels.find(std::string(address_name.text));
    return label == list.labels.end() ? nullptr : &label->second;
}

/// Counts the address once for each target of its group.
void check_address_labels(const TargetLists& lists, const TargetListLimits& limits) {
    std::size_t left = limits.bytes;
    for (const StaticConfig& list : lists) {
        const std::string* address = address_label(list);
        if (!address || address->empty()) continue;
        if (list.targets.size() > left / address->size()) throw_too_long(limits);
        left -= list.targets.size() * address->size();
    }
}

std::optional<TargetLists> try_json(std::string_view text, const DialectRules& rules,
                                    const TargetListLimits& limits) {
    if (!trim(without_byte_order_mark(text)).starts_with('[')) return std::nullopt;
    try {
        return JsonListReader(rules, limits, Keys::exact).read(text);
    } catch (const TargetListTooLong&) {
        throw;
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

}  // namespace

TargetLists parse_http_list(std::string_view json, const DialectRules& rules,
                            const TargetListLimits& limits) {
    const Keys keys = rules.refuses_bad_target_lists ? Keys::any_case : Keys::others;
    return JsonListReader(rules, limits, keys).read(json);
}

TargetLists parse_file_list(std::string_view text, const std::string& path,
                            const DialectRules& rules, const TargetListLimits& limits) {
    if (rules.reads_target_files_by_extension && lower_case(path).ends_with(".json")) {
        return JsonListReader(rules, limits, Keys::any_case).read(text);
    }
    // JSON is valid YAML, but a JSON parser is many times faster.
    std::optional<TargetLists> lists = try_json(text, rules, limits);
    if (!lists) lists = YamlListReader(rules, limits).read(YamlValue::parse(text, path));
    if (rules.address_label_replaces_targets) {
        check_address_labels(*lists, limits);
        for (StaticConfig& list : *lists) prefer_address_label(list);
    }
    return std::move(*lists);
}

void prefer_address_label(StaticConfig& list) {
    const std::string* address = address_label(list);
    if (!address) return;
    for (std::string& target : list.targets) target = *address;
}

std::vector<TargetGroupPtr> make_groups(TargetLists lists, const ListOrigin& origin,
                                        TargetGroupMaker& maker) {
    std::vector<TargetGroupPtr> groups;
    std::vector<LabelMap> targets;
    const std::string prefix = origin.place.empty() ? "" : origin.place + ":";
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (lists[i].targets.empty()) continue;
        LabelMap labels(std::make_move_iterator(lists[i].labels.begin()),
                        std::make_move_iterator(lists[i].labels.end()));
        if (!origin.label.empty()) labels.insert_or_assign(origin.label, origin.value);
        targets.clear();
        for (std::string& address : lists[i].targets) {
            targets.push_back({{std::string(address_name.text), std::move(address)}});
        }
        groups.push_back(maker.make(prefix + std::to_string(i), labels, targets));
    }
    return groups;
}

std::vector<TargetGroupPtr> static_groups(const TargetLists& lists) {
    TargetGroupMaker maker;
    return make_groups(lists, {}, maker);
}

}  // namespace k8s_sd::inline v0::detail
