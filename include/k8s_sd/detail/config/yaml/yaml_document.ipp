#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/config/yaml/simple_yaml.hpp"
#include "k8s_sd/detail/config/yaml/yaml_document.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <sstream>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::string place_in(const std::string& file, int line) {
    return file + ":" + std::to_string(line);
}

int line_of_offset(std::string_view text, std::size_t offset) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
    return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

void check_text(std::string_view text, const std::string& file) {
    if (const std::size_t bad = find_invalid_utf8(text); bad != text.size()) {
        throw ConfigError(place_in(file, line_of_offset(text, bad)), "the text is not UTF-8");
    }
    const auto control = std::find_if(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    });
    if (control != text.end()) {
        const auto offset = static_cast<std::size_t>(control - text.begin());
        throw ConfigError(place_in(file, line_of_offset(text, offset)),
                          "the text contains a control character");
    }
}

/// Builds nodes from the events of yaml-cpp.
class YamlBuilder final : public YAML::EventHandler {
 public:
    explicit YamlBuilder(YamlDocument& document) : document_(document) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        halt_at_exit();
        // At an unexpected character, such as a comma at the beginning of a line, yaml-cpp finds
        // empty documents without end. Each document must begin after the previous one.
        if (mark.pos == last_start_) throw YAML::ParserException(mark, "unexpected character");
        last_start_ = mark.pos;
        anchors_.clear();
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        place(name(anchor, add(Kind::null, mark)));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (anchor >= anchors_.size() || !anchors_[anchor]) {
            throw YAML::ParserException(mark, "unknown anchor");
        }
        place(*anchors_[anchor]);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        halt_at_exit();
        place(name(anchor, document_.add_scalar(document_.keep(value), tag != "!", mark.line + 1)));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(anchor, add(Kind::sequence, mark));
    }
    void OnSequenceEnd() override { open_.pop_back(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(anchor, add(Kind::mapping, mark));
    }
    void OnMapEnd() override { open_.pop_back(); }

 private:
    using Kind = YamlNode::Kind;

    YamlNode& add(Kind kind, const YAML::Mark& mark) {
        halt_at_exit();
        return document_.add(kind, mark.line + 1);
    }
    YamlNode& name(YAML::anchor_t anchor, YamlNode& node) {
        if (anchor == 0) return node;
        if (anchors_.size() <= anchor) anchors_.resize(anchor + 1);
        anchors_[anchor] = &node;
        return node;
    }
    void open(YAML::anchor_t anchor, YamlNode& node) {
        place(name(anchor, node));
        open_.push_back(&node);
    }
    void place(const YamlNode& node) {
        if (!open_.empty()) {
            open_.back()->parts.push_back(&node);
        } else if (node.kind != Kind::null) {
            if (document_.root()) {
                throw ConfigError(place_in(document_.file(), node.line),
                                  "there is a second YAML document; one is allowed");
            }
            document_.set_root(&node);
        }
    }

    YamlDocument& document_;
    std::vector<const YamlNode*> anchors_;  ///< indexed by yaml-cpp's number; 0 is none
    std::vector<YamlNode*> open_;           ///< collections, from the outside in
    int last_start_ = -1;
};

void read_any_yaml(YamlDocument& document) {
    // yaml-cpp accepts an unterminated quoted scalar at the end of the file; the document end
    // marker turns it into an error.
    const std::string_view text = document.text();
    std::istringstream stream(std::string(text) + (text.ends_with('\n') ? "...\n" : "\n...\n"));
    try {
        YAML::Parser parser(stream);
        YamlBuilder builder(document);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::DeepRecursion& e) {
        throw ConfigError(place_in(document.file(), e.mark.line + 1),
                          "the YAML is nested too deep");
    } catch (const YAML::Exception& e) {
        const int last_line = line_of_offset(text, text.size());
        throw ConfigError(place_in(document.file(), std::min(e.mark.line + 1, last_line)),
                          "YAML syntax: " + e.msg);
    }
}

std::shared_ptr<YamlDocument> checked_document(std::string_view text, const std::string& file) {
    check_text(text, file);
    return std::make_shared<YamlDocument>(text, file);
}

}  // namespace

YamlNode& YamlDocument::add(YamlNode::Kind kind, int line) {
    // A value of two bytes of text can take a hundred times as much memory.
    constexpr std::size_t max_values = 2'000'000;
    if (nodes_.size() == max_values) {
        throw ConfigError(place_in(file_, line), "the document has too many values");
    }
    YamlNode& node = nodes_.emplace_back();
    node.kind = kind;
    node.line = line;
    return node;
}

YamlNode& YamlDocument::add_scalar(std::string_view text, bool plain, int line) {
    YamlNode& node = add(YamlNode::Kind::scalar, line);
    node.text = text;
    node.plain = plain;
    return node;
}

void YamlDocument::clear() {
    root_ = nullptr;
    nodes_.clear();
    kept_.clear();
}

bool YamlDocument::spend(std::size_t bytes) const {
    // A document is read several times, in parts; aliases add a margin.
    constexpr std::size_t readings = 10;
    constexpr std::size_t spare = std::size_t{8} << 20;
    spent_ += bytes;
    return spent_ <= readings * (text_.size() + yaml_value_bytes * nodes_.size()) + spare;
}

std::shared_ptr<const YamlDocument> parse_yaml(std::string_view text, const std::string& file) {
    auto document = checked_document(text, file);
    if (!read_simple_yaml(*document)) read_any_yaml(*document);
    return document;
}

std::shared_ptr<const YamlDocument> parse_any_yaml(std::string_view text, const std::string& file) {
    auto document = checked_document(text, file);
    read_any_yaml(*document);
    return document;
}

void make_yaml_statics() {
    // Each rule of yaml-cpp's scanner is a static object, created on first use.
    constexpr const char* everything = R"yaml(%YAML 1.2
%TAG !e! tag:example.org,2000:
---
# a comment
? &anchor key
: !e!tag [*anchor, 'it''s', "a\x41\
  b", plain text, {c: d, "e":f, ? g : h}]
list:
- !<tag:yaml.org,2002:str> |-2
    literal
- >+ # folded
  text
-	!t tab
- a multi
  line
...
)yaml";
    parse_any_yaml(everything, "yaml");
}

}  // namespace k8s_sd::inline v0::detail
