/// A request for an access token, which names package SID and secret (RFC 6749 section 4.4).
struct WNSTokenRequest {
    /// The package that the token is for.
    let packageSID: String

    /// Checks the form. Throws the first of its faults.
    init(_ form: FormBody, contentType: String?, settings: WNSSimulatorSettings) throws(GrantRefusal) {
        guard FormBody.isContentType(contentType) else { throw GrantRefusal("invalid_request", "The body must be a form.") }
        guard let grantType = form["grant_type"], let scope = form["scope"] else {
            throw GrantRefusal("invalid_request", "grant_type and scope are required.")
        }
        guard grantType == "client_credentials" else {
            throw GrantRefusal("unsupported_grant_type", "The provided value for 'grant_type' is not supported.")
        }
        guard form["client_id"] == settings.packageSID, form["client_secret"] == settings.clientSecret else {
            throw GrantRefusal("invalid_client", "Invalid client id or client secret.")
        }
        guard scope == "notify.windows.com" else {
            throw GrantRefusal("invalid_scope", "The provided value for 'scope' is not valid.")
        }
        packageSID = settings.packageSID
    }
}
