/// The grammar of tags, shared by `Tag` and the parser of tag expressions.
enum TagGrammar {
    /// An error in a tag; `index` counts scalars from 0.
    struct Flaw: Error {
        let index: Int
        let message: String
        let hint: String?
    }

    static let allowed = "A tag has only letters, digits and the characters _ - @ # . :"

    /// `[-_@#.:\w]`, with `\w` as in .NET: letters, marks, decimal digits and connecting punctuation of any script.
    static func isTagCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "@", "#", ".", ":": return true
        case _ where scalar.isASCII: return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .connectorPunctuation:
            return true
        default: return false
        }
    }

    static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? scalar == " " || (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
    }

    static func flaw(in text: String) -> TagError? {
        if !text.isEmpty, text.utf8.count <= Tag.maximumLength,
            text.unicodeScalars.allSatisfy(isTagCharacter)
        {
            return nil
        }
        let scalars = Array(text.unicodeScalars)
        do throws(Flaw) {
            let end = try endOfTag(in: scalars, from: 0)
            guard end == scalars.count else { throw misplaced(scalars, at: end) }
            return nil
        } catch {
            let position = characters(in: scalars[..<error.index]) + 1
            return TagError(text: text, position: position, message: error.message, hint: error.hint)
        }
    }

    /// The index after the longest tag that starts at `start`. Throws if none does.
    static func endOfTag(in scalars: [Unicode.Scalar], from start: Int) throws(Flaw) -> Int {
        guard start < scalars.count else { throw Flaw(index: start, message: "The tag is empty.", hint: nil) }
        var end = start
        if scalars[start] == "$" {
            end = try endOfReserved(in: scalars, from: start)
        } else {
            while end < scalars.count, isTagCharacter(scalars[end]) { end += 1 }
        }
        guard end > start else { throw misplaced(scalars, at: start) }
        let length = scalars[start..<end].reduce(0) { $0 + ($1.value > 0xFFFF ? 2 : 1) }
        guard length <= Tag.maximumLength else {
            throw Flaw(
                index: start, message: "The tag has \(length) characters; \(Tag.maximumLength) are allowed.", hint: nil)
        }
        return end
    }

    /// The index after `$InstallationId:{…}` or `$UserId:{…}`, with the names in any case.
    private static func endOfReserved(in scalars: [Unicode.Scalar], from start: Int) throws(Flaw) -> Int {
        var at = start + 1
        while at < scalars.count, scalars[at].isASCII, scalars[at].properties.isAlphabetic { at += 1 }
        let name = string(scalars[start + 1..<at])
        let names = ["InstallationId", "UserId"]
        guard names.contains(where: { $0.lowercased() == name.lowercased() }) else {
            throw Flaw(
                index: start, message: "Only $InstallationId:{…} and $UserId:{…} start with \"$\".",
                hint: nearest(name, in: names).map { "Did you mean \"$\($0):{…}\"?" })
        }
        for expected in [":", "{"] as [Unicode.Scalar] {
            guard at < scalars.count, scalars[at] == expected else {
                throw Flaw(
                    index: at, message: "\"\(expected)\" is missing after \"\(string(scalars[start..<at]))\".",
                    hint: "Write $\(name):{…}.")
            }
            at += 1
        }
        let inner = at
        while at < scalars.count, scalars[at] == "=" || isTagCharacter(scalars[at]) { at += 1 }
        guard at < scalars.count else {
            throw Flaw(index: at, message: "The closing \"}\" is missing.", hint: "Write $\(name):{…}.")
        }
        guard scalars[at] == "}" else { throw misplaced(scalars, at: at) }
        guard at > inner else { throw Flaw(index: at, message: "There is nothing between the braces.", hint: nil) }
        return at + 1
    }

    private static func misplaced(_ scalars: [Unicode.Scalar], at index: Int) -> Flaw {
        let scalar = scalars[index]
        if scalar.properties.isWhitespace {
            return Flaw(index: index, message: "A tag cannot contain a space.", hint: "Use \"_\" or \"-\" instead.")
        }
        return Flaw(index: index, message: "\(scalar.quoted) cannot be part of a tag.", hint: allowed)
    }

    static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        for scalar in scalars { text.append(scalar) }
        return String(text)
    }

    static func characters(in scalars: ArraySlice<Unicode.Scalar>) -> Int { string(scalars).count }
}
