/// The tokens of Lua source as far as a diagnostic needs them: names and single signs, without strings and comments.
struct SourceScanner {
    struct Token {
        var text: String
        /// Counted from 0, from the first of the lines.
        var line: Int
        /// In characters, from 1.
        var column: Int
    }

    private let lines: [[Character]]
    private var line = 0
    private var place = 0
    /// The end of a long string or comment that is open, such as `]==]`.
    private var closing: [Character]?

    init(lines: ArraySlice<String>) {
        self.lines = lines.map(Array.init)
    }

    mutating func next() -> Token? {
        while line < lines.count {
            let text = lines[line]
            if let closing {
                while place < text.count, !text[place...].starts(with: closing) { place += 1 }
                if place < text.count {
                    place += closing.count
                    self.closing = nil
                    continue
                }
            }
            guard place < text.count else {
                line += 1
                place = 0
                continue
            }
            let start = place
            let character = text[place]
            if character.isWhitespace {
                place += 1
            } else if text[place...].starts(with: "--") {
                place += 2
                if !openLong(text) { place = text.count }
            } else if character == "\"" || character == "'" {
                skipString(text, quote: character)
            } else if character == "[", openLong(text) {
                continue
            } else if character.isName {
                while place < text.count, text[place].isName { place += 1 }
                return Token(text: String(text[start..<place]), line: line, column: start + 1)
            } else {
                place += text[place...].starts(with: "==") ? 2 : 1
                return Token(text: String(text[start..<place]), line: line, column: start + 1)
            }
        }
        return nil
    }

    /// `[[`, `[=[`, … at the present place: what follows belongs to it.
    private mutating func openLong(_ text: [Character]) -> Bool {
        guard place < text.count, text[place] == "[" else { return false }
        let equals = text[(place + 1)...].prefix { $0 == "=" }
        guard equals.endIndex < text.count, text[equals.endIndex] == "[" else { return false }
        place = equals.endIndex + 1
        closing = ["]"] + equals + ["]"]
        return true
    }

    private mutating func skipString(_ text: [Character], quote: Character) {
        place += 1
        while place < text.count, text[place] != quote { place += text[place] == "\\" ? 2 : 1 }
        place = min(place + 1, text.count)
    }
}

extension Character {
    fileprivate var isName: Bool { self == "_" || (isASCII && (isLetter || isNumber)) }
}
