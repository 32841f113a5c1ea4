#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/rfc3339.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Field order as in client-go.
std::string exec_cluster_text(const ExecCluster& cluster) {
    boost::json::object object;
    const auto add = [&object](std::string_view name, const std::string& value) {
        if (!value.empty()) object[name] = value;
    };
    add("server", cluster.server);
    add("tls-server-name", cluster.tls_server_name);
    if (cluster.insecure_skip_tls_verify) object["insecure-skip-tls-verify"] = true;
    add("certificate-authority-data", encode_base64(cluster.ca));
    add("proxy-url", cluster.proxy_url);
    if (cluster.disable_compression) object["disable-compression"] = true;
    object["config"] = nullptr;
    std::string text = boost::json::serialize(object);
    error_code not_json;
    boost::json::parse(cluster.extension, not_json);
    if (not_json) return text;
    // Boost would reformat its numbers.
    text.resize(text.size() - std::string_view("null}").size());
    return text + cluster.extension + '}';
}

/// A short word of the program's output for messages; its content is arbitrary.
std::string exec_word(std::string_view text) {
    constexpr std::size_t max_size = 80;
    return in_quotes(redact_tokens(printable(text.substr(0, max_size))));
}

IssuedCredentials bad_exec_credential(std::string problem) {
    IssuedCredentials none;
    none.problem = std::move(problem);
    return none;
}

constexpr const char* exec_remedy =
    "give it the command or the option that prints an ExecCredential in JSON (often --output json)";

/// Describes output other than JSON, with advice, without repeating any of it.
std::string describe_output(std::string_view output, const std::string& json_problem) {
    const auto has_line = [&](std::string_view start) {
        return output.starts_with(start) ||
               output.find('\n' + std::string(start)) != std::string_view::npos;
    };
    const std::string likely = "it looks like ";
    if (output.starts_with('{') || output.starts_with('[')) return json_problem;
    if (output.starts_with('<')) {
        return likely + "a web page (HTML); the program may have got one from a proxy or a login";
    }
    if (has_line("{")) {
        return "other text, such as a line of a log, comes before it; let the program write that "
               "to standard error";
    }
    if (has_line("apiVersion:") || has_line("kind:") || has_line("status:") || has_line("---")) {
        return likely + "YAML; " + exec_remedy;
    }
    if (output.find_first_of(" \t\r\n") == std::string_view::npos) {
        return likely + "a bare token; " + exec_remedy;
    }
    return likely + "text for humans, such as help or a log; " + exec_remedy;
}

/// As in client-go, an object without a kind has the expected one.
bool has_no_kind(const boost::json::object& object) {
    const boost::json::value* kind = object.if_contains("kind");
    return !kind || kind->is_null() || (kind->is_string() && kind->get_string().empty());
}

std::string problem_of_type(const boost::json::object& object, std::string_view api_version) {
    const std::string_view kind = json_text(object, "kind");
    const std::string_view came = json_text(object, "apiVersion");
    if (has_no_kind(object) ? came.empty() : kind != "ExecCredential") {
        return "it printed an object of kind " + exec_word(kind) + " instead of ExecCredential; " +
               exec_remedy;
    }
    if (came == api_version) return {};
    return "it printed apiVersion " + exec_word(came) + " instead of the requested " +
           in_quotes(api_version) +
           "; set the printed one as apiVersion of the exec user, or update the program";
}

IssuedCredentials read_exec_status(const boost::json::object& status) {
    for (const std::string_view name :
         {"token", "clientCertificateData", "clientKeyData", "expirationTimestamp"}) {
        const boost::json::value* value = status.if_contains(name);
        if (value && !value->is_null() && !value->is_string())
            return bad_exec_credential("status." + std::string(name) + " is not a text");
    }
    IssuedCredentials issued;
    const std::string_view token = json_text(status, "token");
    const std::string_view certificate = json_text(status, "clientCertificateData");
    const std::string_view key = json_text(status, "clientKeyData");
    if (certificate.empty() != key.empty()) {
        return bad_exec_credential("it printed a client certificate without key, or the reverse");
    }
    if (token.empty() && certificate.empty()) {
        return bad_exec_credential("it printed neither a token nor a client certificate");
    }
    if (!is_header_text(token)) {
        return bad_exec_credential("the token contains a line break or another control character");
    }
    append(issued.token, token);
    if (!certificate.empty()) {
        ClientIdentity identity;
        append(identity.certificate, certificate);
        append(identity.key, key);
        try {
            check_identity(identity, "clientCertificateData", "clientKeyData");
        } catch (const TlsError& error) {
            return bad_exec_credential(error.what());
        }
        issued.identity = std::make_shared<const ClientIdentity>(std::move(identity));
    }
    const std::string_view expiry = json_text(status, "expirationTimestamp");
    if (expiry.empty()) return issued;
    if (!read_rfc3339(expiry)) {
        return bad_exec_credential("status.expirationTimestamp is not an RFC 3339 time: " +
                                   exec_word(expiry));
    }
    issued.expiry = read_go_time(expiry);
    return issued;
}

}  // namespace

std::string make_exec_info(const std::string& api_version, const ExecCluster* cluster) {
    std::string text = R"({"kind":"ExecCredential","apiVersion":)" +
                       boost::json::serialize(boost::json::string_view(api_version)) +
                       R"(,"spec":{)";
    if (cluster) text += R"("cluster":)" + exec_cluster_text(*cluster) + ',';
    return text + R"("interactive":false}})";
}

IssuedCredentials read_exec_credential(std::string_view output, std::string_view api_version) {
    const std::string_view text = trim(without_byte_order_mark(output));
    if (text.empty()) return bad_exec_credential("it printed nothing");
    CleansedJson json(text);
    if (!json.problem().empty()) {
        return bad_exec_credential("its output is not JSON: " +
                                   describe_output(text, json.problem()));
    }
    const boost::json::object* object = json.value().if_object();
    if (!object) return bad_exec_credential("its output is not a JSON object");
    std::string problem = problem_of_type(*object, api_version);
    if (!problem.empty()) return bad_exec_credential(std::move(problem));
    const boost::json::value* status = object->if_contains("status");
    if (!status || !status->is_object()) {
        return bad_exec_credential("its output has no status, so no credentials");
    }
    return read_exec_status(status->get_object());
}

}  // namespace k8s_sd::inline v0::detail
