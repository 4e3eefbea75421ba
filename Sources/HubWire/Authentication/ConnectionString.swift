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

    /// - Parameters:
    ///   - address: of the server, `http://localhost:8080`; a path is left out.
    ///   - hub: nil for all that the key opens.
    package init(address: String, keyName: String, key: Secret, hub: String? = nil) {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        self.init(host: String(rest.prefix { $0 != "/" }), keyName: keyName, key: key)
        isPlain = address.lowercased().hasPrefix("http://")
        self.hub = hub
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
        guard Authority.isValid(host) else { throw Self.invalid("its Endpoint has no host with a port from 1 to 65535, or without one") }
        isPlain = scheme == "http"
        hub = fields["entitypath"]
    }

    /// `https://ns.example.com`, or with `http` without TLS; with a port where there is one, without a slash at its end.
    package var address: String { "\(isPlain ? "http" : "https")://\(host)" }

    private static func invalid(_ why: String) -> PushError {
        PushError(
            "connection.invalid", "this is no connection string: \(why)",
            hint: "write Endpoint=sb://HOST/;SharedAccessKeyName=NAME;SharedAccessKey=KEY, in quotes")
    }

    /// With `***` in the place of the key.
    package var masked: String { text(key: "***") }

    /// It holds the key: for the operator's eyes only.
    package func reveal() -> String { text(key: key.reveal()) }

    /// `Endpoint=sb://host/;SharedAccessKeyName=…;SharedAccessKey=…`: this order and this scheme are the ones that every client
    /// reads. `sb` means TLS: for a plain port stands `http`, which only some read, and the others could not use.
    private func text(key: String) -> String {
        let hub = hub.map { ";EntityPath=\($0)" } ?? ""
        return "Endpoint=\(isPlain ? "http" : "sb")://\(host)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)\(hub)"
    }
}
