#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/rfc3339.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/net/cleansed_json.hpp"
#include "k8s_sd/detail/net/exec_credential.hpp"
#include "k8s_sd/detail/net/redaction.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"
#include "k8s_sd/detail/net/tls.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

boost::json::object exec_cluster_object(const ExecCluster& cluster) {
    boost::json::object object;
    const auto add = [&object](std::string_view name, const std::string& value) {
        if (!value.empty()) object[name] = value;
    };
    add("server", cluster.server);
    add("tls-server-name", cluster.tls_server_name);
    if (cluster.insecure_skip_tls_verify) object["insecure-skip-tls-verify"] = true;
    add("certificate-authority-data", encode_base64(cluster.ca));
    add("proxy-url", cluster.proxy_url);
    error_code ignored;
    boost::json::value extension = boost::json::parse(cluster.extension, ignored);
    object["config"] = ignored ? boost::json::value() : std::move(extension);
    return object;
}

/// A member that is a text; null where it is missing or something else.
const boost::json::string* text_member(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = object.if_contains(name);
    return value ? value->if_string() : nullptr;
}

std::string_view text_or_nothing(const boost::json::object& object, std::string_view name) {
    const boost::json::string* text = text_member(object, name);
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

/// For messages: a short word of the program, which may be anything.
std::string exec_word(std::string_view text) {
    constexpr std::size_t longest = 80;
    return in_quotes(redact_tokens(printable(text.substr(0, longest))));
}

IssuedCredentials bad_exec_credential(std::string problem) {
    IssuedCredentials none;
    none.problem = std::move(problem);
    return none;
}

std::string problem_of_type(const boost::json::object& object, std::string_view api_version) {
    const std::string_view kind = text_or_nothing(object, "kind");
    if (kind != "ExecCredential") {
        return "it printed an object of kind " + exec_word(kind) + " instead of ExecCredential";
    }
    const std::string_view came = text_or_nothing(object, "apiVersion");
    if (came == api_version) return {};
    return "it was asked for apiVersion " + in_quotes(api_version) + " and printed " +
           exec_word(came) + "; set that as apiVersion of the exec user, or update the program";
}

IssuedCredentials read_exec_status(const boost::json::object& status) {
    for (const std::string_view name :
         {"token", "clientCertificateData", "clientKeyData", "expirationTimestamp"}) {
        const boost::json::value* value = status.if_contains(name);
        if (value && !value->is_null() && !value->is_string())
            return bad_exec_credential("status." + std::string(name) + " is not a text");
    }
    IssuedCredentials issued;
    const std::string_view token = text_or_nothing(status, "token");
    const std::string_view certificate = text_or_nothing(status, "clientCertificateData");
    const std::string_view key = text_or_nothing(status, "clientKeyData");
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
    const std::string_view expiry = text_or_nothing(status, "expirationTimestamp");
    if (expiry.empty()) return issued;
    issued.expiry = read_rfc3339(expiry);
    if (issued.expiry) return issued;
    return bad_exec_credential("status.expirationTimestamp is no time of RFC 3339: " +
                               exec_word(expiry));
}

}  // namespace

std::string make_exec_info(const std::string& api_version, const ExecCluster* cluster) {
    boost::json::object spec;
    spec["interactive"] = false;
    if (cluster) spec["cluster"] = exec_cluster_object(*cluster);
    boost::json::object info;
    info["kind"] = "ExecCredential";
    info["apiVersion"] = api_version;
    info["spec"] = std::move(spec);
    return boost::json::serialize(info);
}

IssuedCredentials read_exec_credential(std::string_view output, std::string_view api_version) {
    if (trim(output).empty()) return bad_exec_credential("it printed nothing");
    CleansedJson json(output);
    if (!json.problem().empty()) {
        return bad_exec_credential("what it printed is not JSON: " + json.problem());
    }
    const boost::json::object* object = json.value().if_object();
    if (!object) return bad_exec_credential("what it printed is no object of JSON");
    std::string problem = problem_of_type(*object, api_version);
    if (!problem.empty()) return bad_exec_credential(std::move(problem));
    const boost::json::value* status = object->if_contains("status");
    if (!status || !status->is_object()) {
        return bad_exec_credential("what it printed has no status, so no credentials");
    }
    return read_exec_status(status->get_object());
}

}  // namespace k8s_sd::inline v0::detail
