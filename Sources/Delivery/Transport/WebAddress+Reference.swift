extension WebAddress {
    /// Resolves a reference found in a response from this address (RFC 3986, section 5.2); returns `nil` if the result is not a valid
    /// address.
    func resolving(_ reference: String) -> WebAddress? {
        let text = reference.prefix { $0 != "#" }
        let before = text.prefix { $0 != "/" && $0 != "?" }
        if before.contains(":") { return WebAddress(String(text)) }
        if text.hasPrefix("//") { return WebAddress("\(scheme):\(text)") }
        if text.isEmpty { return self }
        let ownPath = path.prefix { $0 != "?" }
        if text.hasPrefix("?") { return WebAddress("\(scheme)://\(authority)\(ownPath)\(text)") }
        let end = text.firstIndex(of: "?") ?? text.endIndex
        let folder = text.hasPrefix("/") ? "" : ownPath[...(ownPath.lastIndex(of: "/") ?? ownPath.startIndex)]
        return WebAddress("\(scheme)://\(authority)\(Self.withoutDots(folder + text[..<end]))\(text[end...])")
    }

    /// Removes dot segments (section 5.2.4) from a path that begins with a slash.
    private static func withoutDots(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for segment in segments {
            switch segment {
            case ".": break
            case "..": _ = kept.popLast()
            default: kept.append(segment)
            }
        }
        // A path that ends in a dot segment is a folder.
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }
}
