import PushCore

/// What clients are given to reach a hub: an address and a key.
package struct ConnectionString: Sendable {
    /// `ns.example.com` or `localhost:5090`.
    package var host: String
    package var keyName: String
    package var key: Secret
    /// Whether the server is reached without TLS (`http://`).
    package private(set) var isPlain = false
    /// The hub that it is for; nil where it does not say.
    package private(set) var hub: String?

    package init(host: String, keyName: String, key: Secret) {
        self.host = host
        self.keyName = keyName
        self.key = key
    }

    /// Reads it in any order; `EntityPath` is the hub's name, where it is given.
    ///
    /// Throws `connection.invalid`, whose message never shows the text: it may hold a key.
    package init(parsing text: String) throws(PushError) {
        var fields: [String: String] = [:]
        for field in text.split(separator: ";") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Self.invalid("a part of it has no =") }
            fields[parts[0].trimmed.lowercased()] = parts[1].trimmed
        }
        func field(_ name: String) throws(PushError) -> String {
            guard let value = fields[name.lowercased()], !value.isEmpty else { throw Self.invalid("it has no \(name)") }
            return value
        }
        let endpoint = try field("Endpoint")
        guard let start = endpoint.firstRange(of: "://") else { throw Self.invalid("its Endpoint is no address") }
        let scheme = endpoint[..<start.lowerBound].lowercased()
        guard ["sb", "https", "http"].contains(scheme) else { throw Self.invalid("its Endpoint is none of sb, https and http") }
        self.init(
            host: String(endpoint[start.upperBound...].prefix { $0 != "/" }), keyName: try field("SharedAccessKeyName"),
            key: Secret(try field("SharedAccessKey")))
        guard !host.isEmpty else { throw Self.invalid("its Endpoint has no host") }
        isPlain = scheme == "http"
        hub = fields["entitypath"]
    }

    private static func invalid(_ why: String) -> PushError {
        PushError(
            "connection.invalid", "this is no connection string: \(why)",
            hint: "write Endpoint=sb://HOST/;SharedAccessKeyName=NAME;SharedAccessKey=KEY, in quotes")
    }

    /// `Endpoint=sb://host/;SharedAccessKeyName=…;SharedAccessKey=…`: this order and this scheme are the ones that every client
    /// reads. It holds the key: for the operator's eyes only.
    package var masked: String { "Endpoint=sb://\(host)/;SharedAccessKeyName=\(keyName);SharedAccessKey=***" }

    package func reveal() -> String {
        "Endpoint=sb://\(host)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key.reveal())"
    }
}
