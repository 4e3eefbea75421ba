/// The header `X-WNS-Type` ("Push notification service request and response headers").
enum WNSNotificationType: String, CaseIterable, Sendable {
    case toast = "wns/toast"
    case tile = "wns/tile"
    case badge = "wns/badge"
    case raw = "wns/raw"

    var contentType: String { self == .raw ? "application/octet-stream" : "text/xml" }

    /// Derives the type from the root element of the XML; a body that is not XML is raw.
    init(body: [UInt8]) {
        switch Self.rootElement(of: body)?.lowercased() {
        case "toast": self = .toast
        case "tile": self = .tile
        case "badge": self = .badge
        default: self = .raw
        }
    }

    /// The name of the first element after XML declaration, comments and document type.
    private static func rootElement(of body: [UInt8]) -> String? {
        var rest = body[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
            guard rest.first == UInt8(ascii: "<") else { return nil }
            if rest.starts(with: "<?".utf8) {
                guard let end = rest.firstRange(of: "?>".utf8) else { return nil }
                rest = rest[end.upperBound...]
            } else if rest.starts(with: "<!--".utf8) {
                guard let end = rest.firstRange(of: "-->".utf8) else { return nil }
                rest = rest[end.upperBound...]
            } else if rest.starts(with: "<!".utf8) {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
                rest = rest[(end + 1)...]
            } else {
                let name = rest.dropFirst().prefix { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d, 0x2e, 0x3a: true
                    default: byte >= 0x80
                    }
                }
                return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
            }
        }
    }
}
