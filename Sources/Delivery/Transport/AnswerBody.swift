import PushCore

/// Reading what a push service answered: nothing in it is taken for granted.
extension JSON {
    /// Nil for a body that is not JSON, and for one much longer than any answer that a push service documents.
    init?(answer body: [UInt8]) {
        guard !body.isEmpty, body.count <= 65_536, let json = try? JSON(parsing: body) else { return nil }
        self = json
    }
}

extension String {
    /// Enough of a foreign text to be read in one line, without control characters.
    var excerpt: String {
        // Of most answers, there are as many as devices.
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
