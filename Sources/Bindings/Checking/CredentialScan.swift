import Glibc

/// Recognizes credentials by their form.
enum CredentialScan {
    /// A marker followed by a minimum number of characters of one class.
    private struct Form: Sendable {
        let marker: [UInt8]
        /// The kind of credential, worded for use in a sentence.
        let kind: String
        let length: Int
        let isPart: @Sendable (UInt8) -> Bool

        init(marker: String, kind: String, length: Int, isPart: @escaping @Sendable (UInt8) -> Bool) {
            self.marker = Array(marker.utf8)
            self.kind = kind
            self.length = length
            self.isPart = isPart
        }
    }

    private static let forms: [Form] =
        [
            Form(marker: "SharedAccessKey=", kind: "a connection string with its key", length: 20, isPart: isBase64),
            Form(marker: "AccountKey=", kind: "a connection string with its key", length: 20, isPart: isBase64),
            Form(marker: "AKIA", kind: "an access key of AWS", length: 16, isPart: isUpper),
            Form(marker: "ASIA", kind: "an access key of AWS", length: 16, isPart: isUpper),
            Form(marker: "AIza", kind: "an API key of Google", length: 35, isPart: isURLSafe),
            Form(marker: "ya29.", kind: "an access token of Google", length: 20, isPart: isURLSafe),
            Form(marker: ":APA91b", kind: "a server key of FCM", length: 100, isPart: isURLSafe),
            Form(marker: "ghp_", kind: "an access token of GitHub", length: 30, isPart: isURLSafe),
            Form(marker: "github_pat_", kind: "an access token of GitHub", length: 30, isPart: isURLSafe),
            Form(
                marker: "Bearer ", kind: "an access token", length: 20, isPart: { isBase64($0) || isURLSafe($0) || $0 == UInt8(ascii: ".") }
            ),
        ] + "abprs".map { Form(marker: "xox\($0)-", kind: "an access token of Slack", length: 10, isPart: isURLSafe) }

    private static let formsByFirst = Dictionary(grouping: forms) { $0.marker[0] }

    /// The kind of credential that a text looks like, such as "an access key of AWS"; nil if it looks like none.
    static func kind(of text: some Collection<UInt8>) -> String? {
        let bytes = Array(text)
        guard bytes.count >= 15 else { return nil }
        for start in bytes.indices {
            let rest = bytes[start...]
            for form in formsByFirst[bytes[start]] ?? [] where rest.starts(with: form.marker) {
                let run = rest.dropFirst(form.marker.count).prefix(while: form.isPart)
                if run.count >= form.length, isVaried(run) { return form.kind }
            }
            if bytes[start] == UInt8(ascii: ":"), hasPassword(rest) { return "an address with its password" }
            if bytes[start] == UInt8(ascii: "-"), isPrivateKey(rest) { return "a private key" }
            if bytes[start] == UInt8(ascii: "e"), isWebToken(rest) { return "a signed token (JWT)" }
        }
        return nil
    }

    /// Whether a text looks random, such as a Base64 key: at least 20 characters with at least 3.5 bits of entropy each.
    static func isRandom(_ text: some Collection<UInt8>) -> Bool {
        guard text.count >= 20, text.allSatisfy({ isBase64($0) || isURLSafe($0) }),
            text.contains(where: { isDigit($0) }), text.contains(where: { !isDigit($0) })
        else { return false }
        var counts: [UInt8: Double] = [:]
        for byte in text { counts[byte, default: 0] += 1 }
        let total = Double(text.count)
        let bits = counts.values.reduce(0) { $0 + $1 * log2(total / $1) }
        return bits / total >= 3.5
    }

    /// Whether a name suggests a secret value: `api_key`, `accessToken`, `password`.
    static func isSecretName(_ name: String) -> Bool {
        let folded = name.lowercased()
        return folded == "key" || folded.hasSuffix("_key") || name.hasSuffix("Key") || folded.hasSuffix("apikey")
            || ["password", "passwd", "pwd", "secret", "token", "credential", "signature"].contains { folded.contains($0) }
    }

    /// Whether a text assigned to the name of a password or key is a real value, not a placeholder such as `<your key>` or `xxxxxxxx`.
    static func isPassword(_ text: [UInt8], named name: String) -> Bool {
        let folded = name.lowercased().filter { $0 != "_" && $0 != "-" }
        let isToken = folded == "token"
        guard isToken || ["secret", "pwd"].contains(folded) || passwordEndings.contains(where: { folded.hasSuffix($0) }) else {
            return false
        }
        guard text.count >= (isToken ? 16 : 8), Set(text).count >= 4 else { return false }
        if isToken, !text.allSatisfy(isURLSafe) { return false }
        return text.allSatisfy { $0 > 0x20 && $0 < 0x7f } && !isPlaceholder(text)
    }

    private static let passwordEndings = [
        "password", "passwd", "passphrase", "clientsecret", "apikey", "apisecret", "accesstoken", "refreshtoken", "authtoken", "privatekey",
        "secretkey", "accesskey",
    ]

    private static func isPlaceholder(_ text: some Collection<UInt8>) -> Bool {
        let words = String(decoding: text, as: UTF8.self).lowercased()
        return words.first == "<" || ["your", "xxx", "...", "***", "{{", "${", "$(", "://"].contains { words.contains($0) }
    }

    // MARK: - Forms

    /// `://user:password@`
    private static func hasPassword(_ rest: ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: "://".utf8) else { return false }
        let user = rest.dropFirst(3).prefix { isURLSafe($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }
        let colon = rest.dropFirst(3 + user.count)
        guard colon.first == UInt8(ascii: ":") else { return false }
        let password = colon.dropFirst().prefix { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") }
        guard colon.dropFirst(password.count + 1).first == UInt8(ascii: "@"), !password.isEmpty, !isPlaceholder(password) else {
            return false
        }
        return !["password", "pass", "secret"].contains(String(decoding: password, as: UTF8.self).lowercased())
    }

    private static func isPrivateKey(_ rest: ArraySlice<UInt8>) -> Bool {
        let opening = "-----BEGIN "
        guard rest.starts(with: opening.utf8) else { return false }
        let label = rest.dropFirst(opening.utf8.count).prefix(40).prefix { $0 != UInt8(ascii: "-") }
        return String(decoding: label, as: UTF8.self).hasSuffix("PRIVATE KEY")
    }

    /// Matches two Base64URL parts of which the first is a JSON object.
    private static func isWebToken(_ rest: ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: "eyJ".utf8) else { return false }
        let header = rest.prefix(while: isURLSafe)
        guard header.count >= 10, rest.dropFirst(header.count).first == UInt8(ascii: ".") else { return false }
        let claims = rest.dropFirst(header.count + 1).prefix(while: isURLSafe)
        return claims.count >= 10 && isVaried(claims)
    }

    /// Whether the run has varied characters, unlike the `xxxx` of examples.
    private static func isVaried(_ run: ArraySlice<UInt8>) -> Bool { Set(run).count >= 8 }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) || isDigit(byte) }

    private static func isURLSafe(_ byte: UInt8) -> Bool {
        isUpper(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        isUpper(byte) || (0x61...0x7a).contains(byte) || [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")].contains(byte)
    }
}
