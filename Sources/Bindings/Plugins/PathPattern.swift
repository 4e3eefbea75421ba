import PushModel

/// The path of a route below `/plugins/NAME`, such as `/greetings/{name}`. A part in braces matches any single part.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
    package enum Part: Sendable, Hashable {
        case fixed(String)
        case parameter(String)
    }

    package let parts: [Part]

    /// Parses a pattern. The error's reason completes a sentence that begins with the path.
    package init(parsing text: String) throws(Unreadable) {
        guard text.hasPrefix("/") else { throw Unreadable(reason: "does not begin with a slash") }
        var parts: [Part] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) where !(text == "/" && part.isEmpty) {
            guard !part.isEmpty else { throw Unreadable(reason: "has an empty part") }
            if part.first == "{", part.last == "}" {
                let name = String(part.dropFirst().dropLast())
                guard let first = name.first, first.isLetter, name.utf8.allSatisfy(\.isPropertyCharacter) else {
                    throw Unreadable(reason: "has the invalid parameter \(part): use letters, digits and _")
                }
                guard !parts.contains(.parameter(name)) else { throw Unreadable(reason: "has \(part) twice") }
                parts.append(.parameter(name))
            } else {
                guard part.utf8.allSatisfy(\.isPathCharacter), part != ".", part != ".." else {
                    throw Unreadable(reason: "has \"\(part)\": use letters, digits and - . _ ~")
                }
                parts.append(.fixed(String(part)))
            }
        }
        guard parts.count <= 16 else { throw Unreadable(reason: "has more than 16 parts") }
        self.parts = parts
    }

    package struct Unreadable: Error { package let reason: String }

    package var description: String {
        "/"
            + parts.map { part in
                switch part {
                case .fixed(let text): text
                case .parameter(let name): "{\(name)}"
                }
            }.joined(separator: "/")
    }

    package var parameterNames: [String] {
        parts.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }

    /// The values of the parameters; nil if the path does not match.
    package func match(_ path: [String]) -> [String: String]? {
        guard path.count == parts.count else { return nil }
        var values: [String: String] = [:]
        for (part, text) in zip(parts, path) {
            switch part {
            case .fixed(let fixed): if fixed != text { return nil }
            case .parameter(let name):
                if text.isEmpty { return nil }
                values[name] = text
            }
        }
        return values
    }

    /// Whether both patterns match some common path with the same precedence.
    package func isAmbiguous(with other: PathPattern) -> Bool {
        guard parts.count == other.parts.count else { return false }
        for (own, its) in zip(parts, other.parts) {
            if case .fixed(let own) = own, case .fixed(let its) = its, own != its { return false }
        }
        return rank == other.rank
    }

    /// Precedence for sorting: from the left, fixed parts come before parameters.
    package var rank: [Int] { parts.map { if case .fixed = $0 { 0 } else { 1 } } }
}

extension UInt8 {
    /// Unreserved characters of RFC 3986, section 2.3.
    fileprivate var isPathCharacter: Bool {
        isPropertyCharacter || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "~")].contains(self)
    }
}
