import PushModel

/// Reads responses of push services without trusting their content.
extension JSON {
    /// Returns `nil` for a body that is not JSON, or longer than 64 KiB, which is far more than push services document.
    init?(answer body: [UInt8]) {
        guard !body.isEmpty, body.count <= 65_536, let json = try? JSON(parsing: body) else { return nil }
        self = json
    }
}

extension String {
    /// At most 200 characters in one line, without control characters: a foreign text for logs and messages.
    var excerpt: String {
        // Fast path, since there are as many responses as devices.
        if utf8.count <= 200, utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
        let line = String(unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? " " : $0 })
        return unicodeScalars.count > 200 ? line + "…" : line
    }
}

extension String {
    fileprivate init(_ scalars: [Unicode.Scalar]) {
        self.init()
        unicodeScalars.append(contentsOf: scalars)
    }
}
