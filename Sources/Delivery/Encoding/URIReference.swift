/// A reference to an address, relative or absolute, as a response has it in `Location`.
struct URIReference {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Resolves the reference against the address of the response (RFC 3986, section 5.2). Returns `nil` if the result is not a valid
    /// address.
    func resolved(against base: WebAddress) -> WebAddress? {
        let text = text.prefix { $0 != "#" }
        let before = text.prefix { $0 != "/" && $0 != "?" }
        if before.contains(":") { return WebAddress(String(text)) }
        if text.hasPrefix("//") { return WebAddress("\(base.scheme):\(text)") }
        if text.isEmpty { return base }
        let ownPath = base.path.prefix { $0 != "?" }
        if text.hasPrefix("?") { return WebAddress("\(base.scheme)://\(base.authority)\(ownPath)\(text)") }
        let end = text.firstIndex(of: "?") ?? text.endIndex
        let folder = text.hasPrefix("/") ? "" : ownPath[...(ownPath.lastIndex(of: "/") ?? ownPath.startIndex)]
        return WebAddress("\(base.scheme)://\(base.authority)\(Self.withoutDots(folder + text[..<end]))\(text[end...])")
    }

    /// Removes dot segments (section 5.2.4) from a path that begins with a slash.
    private static func withoutDots(_ path: Substring) -> String {
        var remaining: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for segment in segments {
            switch segment {
            case ".": break
            case "..": _ = remaining.popLast()
            default: remaining.append(segment)
            }
        }
        // A path that ends in a dot segment is a folder.
        if let last = segments.last, last == "." || last == ".." { remaining.append("") }
        return "/" + remaining.joined(separator: "/")
    }
}
