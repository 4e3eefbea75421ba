/// Divides a script into its words, as Lua 5.4 does (manual, section 3.1).
package struct Lexer {
    let text: SourceText
    private var offset: Int
    /// Where comments stand, with their dashes.
    private(set) var comments: [Range<Int>] = []
    /// The end of a short string that a letter follows at once: its quote may have been meant for an apostrophe.
    private var doubtfulQuote: Int?

    package init(_ text: SourceText, at offset: Int? = nil) {
        self.text = text
        self.offset = offset ?? text.start
    }

    package mutating func next() throws(SyntaxError) -> Token {
        try skipBlanks()
        let start = offset
        guard let byte = text.byte(start) else { return Token(kind: .end, range: start..<start) }
        if byte.isNameStart { return word() }
        if byte.isDigit || (byte == UInt8(ascii: ".") && text.byte(start + 1)?.isDigit == true) { return try numeral() }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return try shortString()
        case UInt8(ascii: "["):
            if let level = try longBracket() { return try longString(level) }
            offset = start + 1
            return Token(kind: .symbol(.leftBracket), range: start..<offset)
        default: return try symbol(byte)
        }
    }

    // MARK: - Between words

    private mutating func skipBlanks() throws(SyntaxError) {
        while let byte = text.byte(offset) {
            if byte.isBlank {
                offset += 1
            } else if byte.isNewline {
                offset = text.end(ofNewlineAt: offset)
            } else if byte == UInt8(ascii: "-"), text.byte(offset + 1) == UInt8(ascii: "-") {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(SyntaxError) {
        let start = offset
        offset += 2
        // A comment that begins like a long one and is none lasts to the end of its line.
        if text.byte(offset) == UInt8(ascii: "["), let level = bracketLevel(at: offset) {
            let opener = start..<(offset + level + 2)
            offset += level + 2
            guard skipToLongEnd(level) else {
                throw SyntaxError(
                    "this long comment is not closed", hint: "close it with ]\(String(repeating: "=", count: level))]", at: opener)
            }
        } else {
            while let byte = text.byte(offset), !byte.isNewline { offset += 1 }
        }
        comments.append(start..<offset)
    }

    // MARK: - Words and signs

    private mutating func word() -> Token {
        let start = offset
        while let byte = text.byte(offset), byte.isNamePart { offset += 1 }
        let name = text[start..<offset]
        return Token(kind: Keyword.named(name).map(Token.Kind.keyword) ?? .name(name), range: start..<offset)
    }

    private mutating func symbol(_ first: UInt8) throws(SyntaxError) -> Token {
        let start = offset
        if first == UInt8(ascii: "&") || first == UInt8(ascii: "|"), text.byte(start + 1) == first {
            // Neither sign can stand before a value.
            let word = first == UInt8(ascii: "&") ? "and" : "or"
            throw SyntaxError("Lua has no \(text[start..<(start + 2)])", hint: "write \(word)", at: start..<(start + 2))
        }
        for length in [3, 2, 1] {
            let spelling = text.bytes[start...].prefix(length)
            guard let symbol = Symbol.spelled(spelling) else { continue }
            offset = spelling.endIndex
            return Token(kind: .symbol(symbol), range: start..<offset)
        }
        throw strange(at: start)
    }

    private mutating func numeral() throws(SyntaxError) -> Token {
        let start = offset
        // A dot before the first digit has been seen by the caller.
        if text.byte(offset) == UInt8(ascii: ".") { offset += 1 }
        var exponent = UInt8(ascii: "e")
        if text.byte(offset) == UInt8(ascii: "0"), let mark = text.byte(offset + 1), mark | 0x20 == UInt8(ascii: "x") {
            exponent = UInt8(ascii: "p")
            offset += 2
        }
        while let byte = text.byte(offset) {
            if byte | 0x20 == exponent {
                offset += 1
                if let sign = text.byte(offset), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { offset += 1 }
            } else if byte.hexValue != nil || byte == UInt8(ascii: ".") {
                offset += 1
            } else {
                break
            }
        }
        if let byte = text.byte(offset), byte.isNameStart { offset += 1 }
        guard let kind = Numeral.value(of: text.bytes[start..<offset]) else { throw malformedNumber(start) }
        return Token(kind: kind, range: start..<offset)
    }

    private mutating func malformedNumber(_ start: Int) -> SyntaxError {
        while let byte = text.byte(offset), byte.isNamePart { offset += 1 }
        let spelling = text[start..<offset]
        if spelling.contains("..") {
            return SyntaxError(
                "\(spelling) is no number", hint: "a range is for i = 1, 10 do; texts are joined with blanks around the dots: 1 .. \"st\"",
                at: start..<offset)
        }
        let isName = text.bytes[start].isDigit && spelling.utf8.contains { $0.isNameStart && $0.hexValue == nil }
        return SyntaxError(
            "\(spelling) is no number", hint: isName && !spelling.lowercased().hasPrefix("0x") ? "a name cannot begin with a digit" : nil,
            at: start..<offset)
    }

    // MARK: - Strings

    private mutating func shortString() throws(SyntaxError) -> Token {
        let start = offset
        var reader = StringReader(text: text, offset: start)
        guard let value = try reader.readShort() else {
            if let doubt = doubtfulQuote, text.line(at: doubt) == text.line(at: start) { throw quoteWithin(doubt) }
            let quote = text[start..<(start + 1)]
            throw SyntaxError(
                "the text that begins here is not closed in its line",
                hint: "close it with \(quote); a text of several lines stands in [[ ]]",
                at: start..<(start + 1))
        }
        offset = reader.offset
        if text.byte(offset)?.isNamePart == true { doubtfulQuote = offset - 1 }
        return Token(kind: .string(value), range: start..<offset)
    }

    /// The text ends earlier than its author thought.
    func quoteWithin(_ place: Int) -> SyntaxError {
        let quote = text[place..<(place + 1)]
        if let end = swallowedKey(before: place) {
            return SyntaxError(
                "a \(quote) is missing before this comma: the text goes on to the next \(quote)", hint: "close the text here",
                at: end..<(end + 1))
        }
        return SyntaxError(
            "the text ends at this \(quote), and more letters follow",
            hint: "inside a text write \\\(quote), or put the text into \(quote == "'" ? "\"…\"" : "'…'")", at: place..<(place + 1))
    }

    /// Where a text that ends at a quote has taken in the next key of a table, `"phone, alert = "`, the comma before that key.
    private func swallowedKey(before place: Int) -> Int? {
        let quote = text.bytes[place]
        guard let begin = text.bytes[text.start(ofLine: text.line(at: place))..<place].lastIndex(of: quote) else { return nil }
        var rest = text.bytes[(begin + 1)..<place]
        func dropBlanks() { while rest.last?.isBlank == true { rest.removeLast() } }
        dropBlanks()
        guard rest.popLast() == UInt8(ascii: "=") else { return nil }
        dropBlanks()
        let name = rest.reversed().prefix { $0.isNamePart }.count
        rest.removeLast(name)
        dropBlanks()
        guard name > 0, rest.last == UInt8(ascii: ",") else { return nil }
        return rest.index(before: rest.endIndex)
    }

    private mutating func longString(_ level: Int) throws(SyntaxError) -> Token {
        let start = offset
        offset += level + 2
        guard skipToLongEnd(level) else {
            throw SyntaxError(
                "this long text is not closed", hint: "close it with ]\(String(repeating: "=", count: level))]",
                at: start..<(start + level + 2))
        }
        var reader = StringReader(text: text, offset: start + level + 2)
        let value = reader.readLong(to: offset - level - 2)
        return Token(kind: .string(value), range: start..<offset)
    }

    /// Moves behind the end of a long bracket; false when there is none.
    private mutating func skipToLongEnd(_ level: Int) -> Bool {
        while let byte = text.byte(offset) {
            if byte == UInt8(ascii: "]"), closes(level, at: offset) {
                offset += level + 2
                return true
            }
            offset += 1
        }
        return false
    }

    private func closes(_ level: Int, at start: Int) -> Bool {
        guard text.byte(start + level + 1) == UInt8(ascii: "]") else { return false }
        return text.bytes[(start + 1)..<(start + 1 + level)].allSatisfy { $0 == UInt8(ascii: "=") }
    }

    /// How many "=" stand between the two brackets that open a long text; nil when it is none.
    private func bracketLevel(at start: Int) -> Int? {
        var end = start + 1
        while text.byte(end) == UInt8(ascii: "=") { end += 1 }
        return text.byte(end) == UInt8(ascii: "[") ? end - start - 1 : nil
    }

    private func longBracket() throws(SyntaxError) -> Int? {
        if let level = bracketLevel(at: offset) { return level }
        guard text.byte(offset + 1) == UInt8(ascii: "=") else { return nil }
        throw SyntaxError("[= begins a long text, and its second [ is missing", hint: "write [=[ … ]=]", at: offset..<(offset + 2))
    }
}
