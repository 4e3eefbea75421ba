package import PushModel

/// A connection string, with which clients reach a hub: an address and a key.
package struct ConnectionString: Sendable {
    /// `ns.example.com` or `localhost:5090`.
    package var host: String
    package var keyName: String
    package var key: Secret
    /// Whether the server is reached without TLS (`http://`).
    package private(set) var isPlain = false
    /// The hub's name; nil if the string does not contain it.
    package private(set) var hub: String?

    package init(host: String, keyName: String, key: Secret) {
        self.host = host
        self.keyName = keyName
        self.key = key
    }

    /// - Parameters:
    ///   - address: The server's address, `http://localhost:8080`; a path is ignored.
    ///   - hub: nil for all hubs that the key grants access to.
    package init(address: String, keyName: String, key: Secret, hub: String? = nil) {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        self.init(host: String(rest.prefix { $0 != "/" }), keyName: keyName, key: key)
        isPlain = address.lowercased().hasPrefix("http://")
        self.hub = hub
    }

    /// Parses the fields in any order. `EntityPath`, if present, is the hub's name.
    ///
    /// Throws `connection.invalid`, whose message never contains the text, because it may contain a key.
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
        guard let start = endpoint.firstRange(of: "://") else { throw Self.invalid("its Endpoint is not an address") }
        let scheme = endpoint[..<start.lowerBound].lowercased()
        guard ["sb", "https", "http"].contains(scheme) else { throw Self.invalid("the scheme of its Endpoint is not sb, https or http") }
        self.init(
            host: String(endpoint[start.upperBound...].prefix { $0 != "/" }), keyName: try field("SharedAccessKeyName"),
            key: Secret(try field("SharedAccessKey")))
        guard !host.isEmpty else { throw Self.invalid("its Endpoint has no host") }
        guard Authority.isValid(host) else { throw Self.invalid("its Endpoint needs a host, optionally with a port from 1 to 65535") }
        isPlain = scheme == "http"
        hub = fields["entitypath"]
    }

    /// `https://ns.example.com` (`http` without TLS), with the port if given, without a trailing slash.
    package var address: String { "\(isPlain ? "http" : "https")://\(host)" }

    private static func invalid(_ why: String) -> PushError {
        PushError(
            "connection.invalid", "invalid connection string: \(why)",
            hint: "write Endpoint=sb://HOST/;SharedAccessKeyName=NAME;SharedAccessKey=KEY, in quotes")
    }

    /// The string with `***` instead of the key.
    package var masked: String { text(key: "***") }

    /// The string with the key. Show it only to the operator.
    package func reveal() -> String { text(key: key.reveal()) }

    /// Writes `Endpoint=sb://host/;SharedAccessKeyName=…;SharedAccessKey=…`: every client reads this order and scheme. `sb` means TLS. A
    /// port without TLS is written with `http`, which only some clients read; the others could not use it anyway.
    private func text(key: String) -> String {
        let hub = hub.map { ";EntityPath=\($0)" } ?? ""
        return "Endpoint=\(isPlain ? "http" : "sb")://\(host)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)\(hub)"
    }
}
