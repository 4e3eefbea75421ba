/// Chooses the best available language for a reader (RFC 4647, section 3.4, "Lookup").
package enum LanguageLookup {
    /// The tag for `language` or its nearest more general language: for `zh-Hant-TW` that is `zh-Hant-TW`, then `zh-Hant`, then `zh`.
    /// `fallback` if there is none. Ignores case; returns the spelling in `tags`.
    package static func best(for language: String, among tags: some Sequence<String>, fallback: String) -> String {
        let known = Dictionary(tags.map { ($0.lowercased(), $0) }, uniquingKeysWith: min)
        var range = language.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        while !range.isEmpty {
            if let found = known[range.joined(separator: "-")] { return found }
            range.removeLast()
            // A single letter only introduces the subtag that was removed.
            if range.last?.utf8.count == 1 { range.removeLast() }
        }
        return fallback
    }

    /// Whether the text has the format of a BCP 47 language tag: subtags of letters and digits joined by hyphens, the first of two to eight
    /// letters, or `x` or `i` followed by another.
    package static func isTag(_ text: String) -> Bool {
        let parts = text.lowercased().utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last,
            parts.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy(\.isLowercaseLetterOrDigit) })
        else { return false }
        let isPrivate = parts.dropLast().contains { $0.elementsEqual("x".utf8) }
        guard isPrivate || last.count > 1 else { return false }
        if first.count == 1 { return parts.count > 1 && (first.elementsEqual("x".utf8) || first.elementsEqual("i".utf8)) }
        return first.allSatisfy { $0 > UInt8(ascii: "9") }
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetterOrDigit: Bool { (0x61...0x7a).contains(self) || (0x30...0x39).contains(self) }
}
