#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/config/yaml/yaml_document.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"

#include <yaml.h>
#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_yaml_depth = 500;

int line_of(const yaml_mark_t& mark) { return static_cast<int>(mark.line) + 1; }

int line_of_offset(std::string_view text, std::size_t offset) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
    return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

[[noreturn]] void fail_in_line(const std::string& file, int line, const std::string& problem) {
    throw ConfigError(file + ":" + std::to_string(line), problem);
}

/// Null becomes an empty text.
std::string_view view_of(const yaml_char_t* text) {
    return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

/// An event or a token of libyaml, with the memory it owns.
template <class Item, void (*destroy)(Item*)>
class YamlItem {
 public:
    YamlItem() = default;
    ~YamlItem() { destroy(&item_); }
    YamlItem(const YamlItem&) = delete;
    YamlItem& operator=(const YamlItem&) = delete;

    const Item* operator->() const { return &item_; }
    Item* get() { return &item_; }
    int line() const { return line_of(item_.start_mark); }

 private:
    Item item_{};
};
using YamlEvent = YamlItem<yaml_event_t, yaml_event_delete>;
using YamlToken = YamlItem<yaml_token_t, yaml_token_delete>;

/// libyaml's parser. It refers to the text.
class YamlParser {
 public:
    YamlParser(std::string_view text, const std::string& file) : text_(text), file_(file) {
        if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    ~YamlParser() { yaml_parser_delete(&parser_); }
    YamlParser(const YamlParser&) = delete;
    YamlParser& operator=(const YamlParser&) = delete;

    void next(YamlEvent& empty) {
        if (yaml_parser_parse(&parser_, empty.get()) == 0) fail();
    }
    /// \returns false for an error
    bool next(YamlToken& empty) { return yaml_parser_scan(&parser_, empty.get()) != 0; }

 private:
    [[noreturn]] void fail() const {
        if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
        // The text is UTF-8, so the reader refuses nothing else.
        if (parser_.error == YAML_READER_ERROR) {
            fail_in_line(file_, line_of_offset(text_, parser_.problem_offset),
                         "the text contains a control character");
        }
        // At the end of the text libyaml adds a line break.
        const int last_line = line_of_offset(text_, text_.size());
        const int line = std::min(line_of(parser_.problem_mark), last_line);
        std::string problem = std::string("YAML syntax: ") + parser_.problem;
        if (parser_.context && line_of(parser_.context_mark) < line) {
            problem += std::string(", ") + parser_.context + " that begins in line " +
                       std::to_string(line_of(parser_.context_mark));
        }
        fail_in_line(file_, line, problem);
    }

    std::string_view text_;
    const std::string& file_;
    yaml_parser_t parser_{};
};

/// Whether the text may contain the tag "!".
bool may_have_bare_tag(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    for (std::size_t at = text.find('!'); at != text.npos; at = text.find('!', at + 1)) {
        const bool ends = at + 1 == text.size() || blanks.find(text[at + 1]) != blanks.npos;
        const bool begins = at == 0 || blanks.find(text[at - 1]) != blanks.npos ||
                            std::string_view("[{,:").find(text[at - 1]) != text.npos;
        if (begins && ends) return true;
    }
    return false;
}

/// 1 where a collection begins, -1 where one ends, 0 for other tokens.
int depth_change(yaml_token_type_t type) {
    switch (type) {
        case YAML_BLOCK_SEQUENCE_START_TOKEN:
        case YAML_BLOCK_MAPPING_START_TOKEN:
        case YAML_FLOW_SEQUENCE_START_TOKEN:
        case YAML_FLOW_MAPPING_START_TOKEN: return 1;
        case YAML_BLOCK_END_TOKEN:
        case YAML_FLOW_SEQUENCE_END_TOKEN:
        case YAML_FLOW_MAPPING_END_TOKEN: return -1;
        default: return 0;
    }
}

/// The scalars with the tag "!", by the index of their first character or property, in order.
/// Events do not have this tag, so the tokens are read as well, as far as the depth is permitted:
/// the time for a token grows with it.
std::vector<std::size_t> find_bare_tags(std::string_view text, const std::string& file) {
    std::vector<std::size_t> found;
    if (!may_have_bare_tag(text)) return found;
    YamlParser parser(text, file);
    std::size_t begin = 0;
    int depth = 0;
    bool in_properties = false;
    bool is_bare = false;
    while (depth <= static_cast<int>(max_yaml_depth)) {
        halt_at_exit();
        YamlToken token;
        if (!parser.next(token) || token->type == YAML_STREAM_END_TOKEN) return found;
        depth += depth_change(token->type);
        if (token->type == YAML_ANCHOR_TOKEN || token->type == YAML_TAG_TOKEN) {
            if (!in_properties) begin = token->start_mark.index;
            in_properties = true;
            is_bare |= token->type == YAML_TAG_TOKEN && view_of(token->data.tag.suffix) == "!";
            continue;
        }
        if (is_bare && token->type == YAML_SCALAR_TOKEN) found.push_back(begin);
        in_properties = false;
        is_bare = false;
    }
    return found;
}

/// Whether the text of a scalar decides its type: a tag wins over the quotes, as in Go.
bool is_plain(std::string_view tag, bool is_implicit) {
    if (tag.empty()) return is_implicit;
    return tag == YAML_BOOL_TAG || tag == YAML_INT_TAG || tag == YAML_FLOAT_TAG ||
           tag == YAML_NULL_TAG || tag == "tag:yaml.org,2002:merge";
}

bool is_null_text(std::string_view text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

/// Builds nodes from events.
class YamlBuilder {
 public:
    /// \param bare_tags  the scalars with the tag "!"
    YamlBuilder(YamlDocument& document, std::vector<std::size_t> bare_tags)
        : document_(document), bare_tags_(std::move(bare_tags)) {}

    void take(const YamlEvent& event) {
        switch (event->type) {
            case YAML_DOCUMENT_START_EVENT: anchors_.clear(); break;
            case YAML_ALIAS_EVENT: place(*target_of(event)); break;
            case YAML_SCALAR_EVENT: place(name(event->data.scalar.anchor, scalar(event))); break;
            case YAML_SEQUENCE_START_EVENT:
                open(event->data.sequence_start.anchor, Kind::sequence, event.line());
                break;
            case YAML_MAPPING_START_EVENT:
                open(event->data.mapping_start.anchor, Kind::mapping, event.line());
                break;
            case YAML_SEQUENCE_END_EVENT:
            case YAML_MAPPING_END_EVENT: close(); break;
            default: break;
        }
    }

 private:
    using Kind = YamlNode::Kind;

    const YamlNode* target_of(const YamlEvent& alias) const {
        const auto found = anchors_.find(view_of(alias->data.alias.anchor));
        if (found != anchors_.end()) return found->second;
        fail_in_line(document_.file(), alias.line(), "YAML syntax: unknown anchor");
    }

    YamlNode& scalar(const YamlEvent& event) {
        const auto& data = event->data.scalar;
        const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
        const bool has_bare_tag =
            std::binary_search(bare_tags_.begin(), bare_tags_.end(), event->start_mark.index);
        const bool implicit = data.style == YAML_PLAIN_SCALAR_STYLE && !has_bare_tag;
        const bool plain = is_plain(view_of(data.tag), implicit);
        if (plain && is_null_text(text)) return document_.add(Kind::null, event.line());
        return document_.add_scalar(text, plain, event.line());
    }

    YamlNode& name(const yaml_char_t* anchor, YamlNode& node) {
        if (anchor) anchors_.insert_or_assign(std::string(view_of(anchor)), &node);
        return node;
    }

    void open(const yaml_char_t* anchor, Kind kind, int line) {
        if (open_.size() == max_yaml_depth) {
            fail_in_line(document_.file(), line, "the YAML is nested too deeply");
        }
        YamlNode& node = name(anchor, document_.add(kind, line));
        place(node);
        open_.push_back({node, parts_.size()});
    }

    void close() {
        const auto [node, begin] = open_.back();
        node.parts = document_.keep(YamlParts(parts_).subspan(begin));
        parts_.resize(begin);
        open_.pop_back();
    }

    void place(const YamlNode& node) {
        if (!open_.empty()) {
            parts_.push_back(&node);
        } else if (node.kind != Kind::null) {
            if (document_.root()) {
                fail_in_line(document_.file(), node.line,
                             "there is a second YAML document; one is allowed");
            }
            document_.set_root(&node);
        }
    }

    struct OpenCollection {
        YamlNode& node;
        std::size_t begin;  ///< of its parts
    };

    YamlDocument& document_;
    const std::vector<std::size_t> bare_tags_;
    std::map<std::string, const YamlNode*, std::less<>> anchors_;
    std::vector<OpenCollection> open_;    ///< from the outside in
    std::vector<const YamlNode*> parts_;  ///< of the open collections
};

}  // namespace

YamlNode& YamlDocument::add(YamlNode::Kind kind, int line) {
    // A value of two bytes of text can take a hundred times as much memory.
    constexpr std::size_t max_values = 2'000'000;
    if (values_ == max_values) fail_in_line(file_, line, "the document has too many values");
    ++values_;
    static_assert(std::is_trivially_destructible_v<YamlNode>);
    void* const place = memory_.allocate(sizeof(YamlNode), alignof(YamlNode));
    return *new (place) YamlNode(kind, line);
}

YamlNode& YamlDocument::add_scalar(std::string_view text, bool plain, int line) {
    YamlNode& node = add(YamlNode::Kind::scalar, line);
    node.text = keep(text);
    node.plain = plain;
    return node;
}

bool YamlDocument::spend(std::size_t bytes) const {
    // A document is read several times, in parts; aliases add a margin.
    constexpr std::size_t readings = 10;
    constexpr std::size_t spare = std::size_t{8} << 20;
    spent_ += bytes;
    return spent_ <= readings * (bytes_ + yaml_value_bytes * values_) + spare;
}

std::shared_ptr<const YamlDocument> parse_yaml(std::string_view text, const std::string& file) {
    if (const std::size_t bad = find_invalid_utf8(text); bad != text.size()) {
        fail_in_line(file, line_of_offset(text, bad), "the text is not UTF-8");
    }
    auto document = std::make_shared<YamlDocument>(text.size(), file);
    YamlParser parser(text, file);
    YamlBuilder builder(*document, find_bare_tags(text, file));
    for (;;) {
        halt_at_exit();
        YamlEvent event;
        parser.next(event);
        if (event->type == YAML_STREAM_END_EVENT) return document;
        builder.take(event);
    }
}

}  // namespace k8s_sd::inline v0::detail
