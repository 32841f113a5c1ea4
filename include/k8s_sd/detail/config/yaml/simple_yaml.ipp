#include "k8s_sd/detail/config/yaml/simple_yaml.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

bool is_yaml_null(std::string_view text) {
    return text == "~" || text == "null" || text == "Null" || text == "NULL";
}

/// The text is outside the subset.
struct NotSimple {};

class SimpleYamlReader {
 public:
    explicit SimpleYamlReader(YamlDocument& document)
        : document_(document), rest_(document.text()) {}

    void read() {
        const bool other_bytes = rest_.find_first_of("\t\r") != std::string_view::npos ||
                                 rest_.starts_with("\xef\xbb\xbf");
        require(!other_bytes);
        next_line();
        if (!at_end_ && line_.content == "---") next_line();
        require(!at_end_);
        document_.set_root(&block());
        require(at_end_);
    }

 private:
    using Kind = YamlNode::Kind;

    /// The rest of a line, from its first character other than a blank.
    struct Line {
        int number = 0;
        std::size_t indent = 0;
        std::string_view content;
    };

    static void require(bool simple) {
        if (!simple) throw NotSimple{};
    }

    // --- lines -----------------------------------------------------------------------------------

    /// Advances to the next line with content other than a comment.
    void next_line() {
        while (!rest_.empty()) {
            const std::size_t length = std::min(rest_.find('\n'), rest_.size());
            const std::string_view text = rest_.substr(0, length);
            rest_.remove_prefix(std::min(length + 1, rest_.size()));
            ++line_.number;
            line_.indent = std::min(text.find_first_not_of(' '), text.size());
            line_.content = text.substr(line_.indent);
            if (line_.content.empty() || line_.content.starts_with('#')) continue;
            const bool marker =
                line_.content.starts_with("---") || line_.content.starts_with("...");
            require(!marker || line_.indent > 0 || (!began_ && line_.content == "---"));
            began_ = true;
            return;
        }
        at_end_ = true;
    }

    /// Skips the first characters of this line, and the blanks after them.
    void skip(std::size_t count) {
        std::string_view& content = line_.content;
        const std::size_t blanks = std::min(content.find_first_not_of(' ', count), content.size());
        line_.indent += blanks;
        content.remove_prefix(blanks);
    }

    bool at_line_end() const { return line_.content.empty() || line_.content.starts_with('#'); }

    bool at_item() const { return line_.content.starts_with("- "); }
    bool at_flow() const { return line_.content[0] == '[' || line_.content[0] == '{'; }

    // --- collections by indentation --------------------------------------------------------------

    class Deeper {
     public:
        explicit Deeper(int& depth) : depth_(depth) { require(++depth_ < 64); }
        ~Deeper() { --depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;

     private:
        int& depth_;
    };

    YamlNode& block() {
        const Deeper deeper(depth_);
        return at_item() ? sequence() : mapping();
    }

    YamlNode& sequence() {
        const std::size_t indent = line_.indent;
        YamlNode& node = document_.add(Kind::sequence, line_.number);
        while (!at_end_ && line_.indent == indent && at_item()) {
            skip(2);
            require(!at_line_end());
            const bool is_block = !at_flow() && (at_item() || key_length() > 0);
            node.parts.push_back(is_block ? &block() : &scalar_or_flow());
        }
        require(at_end_ || line_.indent <= indent);
        return node;
    }

    YamlNode& mapping() {
        const std::size_t indent = line_.indent;
        YamlNode& node = document_.add(Kind::mapping, line_.number);
        while (!at_end_ && line_.indent == indent && !at_item()) {
            node.parts.push_back(&key());
            node.parts.push_back(&value(indent));
        }
        require(at_end_ || line_.indent <= indent);
        return node;
    }

    YamlNode& value(std::size_t indent) {
        if (!at_line_end()) return scalar_or_flow();
        const int line = line_.number;
        next_line();
        const bool deeper = !at_end_ && line_.indent > indent;
        const bool items = !at_end_ && line_.indent == indent && at_item();
        return deeper || items ? block() : document_.add(Kind::null, line);
    }

    /// The length of the key at the start of this line, quotes included; 0 if there is none.
    std::size_t key_length() const {
        const std::string_view content = line_.content;
        std::size_t end = 0;
        if (content[0] == '"' || content[0] == '\'') {
            end = quoted_length(content);
        } else {
            while (end < content.size() && !ends_key(content, end)) ++end;
        }
        return end < content.size() && ends_key(content, end) ? end : 0;
    }

    static bool ends_key(std::string_view content, std::size_t at) {
        return content[at] == ':' && (at + 1 == content.size() || content[at + 1] == ' ');
    }

    YamlNode& key() {
        const std::size_t length = key_length();
        require(length > 0);
        const std::string_view text = line_.content.substr(0, length);
        YamlNode& node = is_quoted(text) ? quoted(text) : plain(text);
        require(node.kind == Kind::scalar);
        skip(length + 1);
        return node;
    }

    // --- single-line values ----------------------------------------------------------------------

    YamlNode& scalar_or_flow() {
        std::string_view& content = line_.content;
        YamlNode* node = nullptr;
        if (at_flow()) {
            node = &flow(content);
        } else if (is_quoted(content)) {
            const std::size_t length = quoted_length(content);
            node = &quoted(content.substr(0, length));
            content.remove_prefix(length);
        } else {
            const std::size_t end = std::min(content.find(" #"), content.size());
            node = &plain(content.substr(0, end));
            content.remove_prefix(end);
        }
        const bool comment = content.starts_with(' ');
        skip(0);
        require(content.empty() || (comment && content[0] == '#'));
        next_line();
        return *node;
    }

    static bool is_quoted(std::string_view text) { return text[0] == '"' || text[0] == '\''; }

    /// An unquoted scalar, possibly followed by blanks.
    YamlNode& plain(std::string_view text) {
        text = text.substr(0, text.find_last_not_of(' ') + 1);
        require(!text.empty() &&
                std::string_view(",[]{}#&*!|>'\"%@`").find(text[0]) == std::string_view::npos);
        const bool indicator = text[0] == '-' || text[0] == '?' || text[0] == ':';
        require(!indicator || (text.size() > 1 && text[1] != ' '));
        require(text.find(": ") == std::string_view::npos && !text.ends_with(':') &&
                text.find(" #") == std::string_view::npos);
        if (is_yaml_null(text)) return document_.add(Kind::null, line_.number);
        return document_.add_scalar(text, true, line_.number);
    }

    /// The length of the quoted scalar at the start of the text.
    static std::size_t quoted_length(std::string_view text) {
        const char quote = text[0];
        for (std::size_t i = 1; i < text.size(); ++i) {
            if (quote == '"' && text[i] == '\\') {
                ++i;
            } else if (text[i] == quote) {
                const bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
                if (!doubled) return i + 1;
                ++i;
            }
        }
        throw NotSimple{};
    }

    YamlNode& quoted(std::string_view text) {
        const char quote = text[0];
        text = text.substr(1, text.size() - 2);
        if (text.find(quote == '"' ? '\\' : '\'') == std::string_view::npos) {
            return document_.add_scalar(text, false, line_.number);
        }
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const bool escaped = text[i] == (quote == '"' ? '\\' : '\'');
            result += escaped && quote == '"' ? escape(text[i + 1]) : text[i];
            if (escaped) ++i;
        }
        return document_.add_scalar(document_.keep(std::move(result)), false, line_.number);
    }

    static char escape(char c) {
        if (c == 'n') return '\n';
        if (c == 't') return '\t';
        require(c == '\\' || c == '"');
        return c;
    }

    // --- collections in brackets -----------------------------------------------------------------

    /// Reads one collection and removes it from the text.
    YamlNode& flow(std::string_view& text) {
        const Deeper deeper(depth_);
        const bool is_mapping = text[0] == '{';
        YamlNode& node = document_.add(is_mapping ? Kind::mapping : Kind::sequence, line_.number);
        const char close = is_mapping ? '}' : ']';
        advance(text, 1);
        if (text[0] == close) return advance_past(text, node);
        for (;;) {
            if (is_mapping) {
                const YamlNode& name = flow_value(text);
                require(name.kind == Kind::scalar && text.starts_with(": "));
                advance(text, 2);
                node.parts.push_back(&name);
            }
            node.parts.push_back(&flow_value(text));
            advance(text, 0);
            if (text[0] == close) return advance_past(text, node);
            require(text[0] == ',');
            advance(text, 1);
        }
    }

    YamlNode& flow_value(std::string_view& text) {
        if (text[0] == '[' || text[0] == '{') return flow(text);
        const bool in_quotes = is_quoted(text);
        const std::size_t length = in_quotes ? quoted_length(text) : flow_plain_length(text);
        const std::string_view scalar = text.substr(0, length);
        text.remove_prefix(length);
        require(!text.empty());
        return in_quotes ? quoted(scalar) : plain(scalar);
    }

    static std::size_t flow_plain_length(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (c == ',' || c == '[' || c == ']' || c == '{' || c == '}') return i;
            require(c != '?');
            if (c != ':') continue;
            require(i + 1 < text.size());
            if (text[i + 1] == ' ') return i;
            require(std::string_view(",[]{}").find(text[i + 1]) == std::string_view::npos);
        }
        throw NotSimple{};
    }

    /// Skips some characters and the blanks after them. \pre the line continues
    static void advance(std::string_view& text, std::size_t count) {
        const std::size_t next = text.find_first_not_of(' ', count);
        require(next != std::string_view::npos);
        text.remove_prefix(next);
    }
    static YamlNode& advance_past(std::string_view& text, YamlNode& node) {
        text.remove_prefix(1);
        return node;
    }

    YamlDocument& document_;
    std::string_view rest_;  ///< the lines after this one
    Line line_;
    bool began_ = false;
    bool at_end_ = false;
    int depth_ = 0;
};

}  // namespace

bool read_simple_yaml(YamlDocument& document) {
    try {
        SimpleYamlReader(document).read();
        return true;
    } catch (const NotSimple&) {
        document.clear();
        return false;
    }
}

}  // namespace k8s_sd::inline v0::detail
