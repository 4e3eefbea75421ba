/// A parser for the XML of tiles, toasts and badges: elements, attributes, character data, comments.
struct XMLParser {
    private var rest: Substring.UnicodeScalarView
    private var depth = 0

    init(_ text: String) {
        rest = text[...].unicodeScalars
        if rest.first == "\u{feff}" { rest.removeFirst() }
    }

    /// Parses the root element; returns `nil` unless the text is one well-formed document.
    mutating func document() -> XMLNode? {
        guard skipMisc(), take("<"), let root = element(), skipMisc(), rest.isEmpty else { return nil }
        return root
    }

    private mutating func take(_ word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    }

    /// Consumes everything up to and including `end`; returns the text before it.
    private mutating func content(until end: String) -> String? {
        var content = String.UnicodeScalarView()
        while !rest.isEmpty {
            if take(end) { return String(content) }
            content.append(rest.removeFirst())
        }
        return nil
    }

    private mutating func skipMisc() -> Bool {
        while true {
            skipBlanks()
            if take("<?") {
                guard content(until: "?>") != nil else { return false }
            } else if take("<!--") {
                guard content(until: "-->") != nil else { return false }
            } else {
                return true
            }
        }
    }

    private mutating func name() -> String? {
        let scalars = rest.prefix {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == "-" || $0 == ":"
                || $0 == "."
        }
        guard let first = scalars.first, first.properties.isAlphabetic || first == "_" else { return nil }
        rest.removeFirst(scalars.count)
        return String(String.UnicodeScalarView(scalars))
    }

    /// Parses an element after the `<` of its start tag, up to its end tag.
    private mutating func element() -> XMLNode? {
        depth += 1
        defer { depth -= 1 }
        guard depth < 64, let name = name() else { return nil }
        var node = XMLNode(name: name)
        while true {
            let before = rest.count
            skipBlanks()
            if take("/>") { return node }
            if take(">") { break }
            guard rest.count < before, let key = self.name(), node.attributes[key] == nil else { return nil }
            skipBlanks()
            guard take("=") else { return nil }
            skipBlanks()
            guard let value = quoted() else { return nil }
            node.attributes[key] = value
        }
        return fill(&node) ? node : nil
    }

    private mutating func quoted() -> String? {
        for quote in ["\"", "'"] where take(quote) {
            guard let raw = content(until: quote), !raw.contains("<") else { return nil }
            return Self.resolved(raw)
        }
        return nil
    }

    private mutating func fill(_ node: inout XMLNode) -> Bool {
        while !rest.isEmpty {
            if take("</") {
                guard name() == node.name else { return false }
                skipBlanks()
                return take(">")
            } else if take("<!--") {
                guard content(until: "-->") != nil else { return false }
            } else if take("<![CDATA[") {
                guard let raw = content(until: "]]>") else { return false }
                node.text += raw
            } else if take("<") {
                guard let child = element() else { return false }
                node.text += child.text
                node.children.append(child)
            } else {
                let raw = rest.prefix { $0 != "<" }
                rest.removeFirst(raw.count)
                guard let text = Self.resolved(String(String.UnicodeScalarView(raw))) else { return false }
                node.text += text
            }
        }
        return false
    }

    /// Resolves references in character data (XML 1.0 section 4.1); returns `nil` for an unknown one.
    private static func resolved(_ text: String) -> String? {
        var parts = text.split(separator: "&", omittingEmptySubsequences: false)[...]
        var output = String(parts.removeFirst())
        for part in parts {
            guard let end = part.firstIndex(of: ";") else { return nil }
            let name = part[..<end]
            switch name {
            case "amp": output += "&"
            case "lt": output += "<"
            case "gt": output += ">"
            case "quot": output += "\""
            case "apos": output += "'"
            default:
                let code =
                    name.hasPrefix("#x")
                    ? UInt32(name.dropFirst(2), radix: 16)
                    : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
                guard let scalar = code.flatMap({ Unicode.Scalar($0) }) else { return nil }
                output.unicodeScalars.append(scalar)
            }
            output += part[part.index(after: end)...]
        }
        return output
    }
}
