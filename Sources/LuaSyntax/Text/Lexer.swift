/// Divides a script into tokens as Lua 5.4 does (manual, section 3.1).
package struct Lexer {
    let text: SourceText
    private var offset: Int
    /// Ranges of the comments, including the dashes.
    private(set) var comments: [Range<Int>] = []
    /// The closing quote of a string that is directly followed by a letter. It may have been meant as an apostrophe.
    private var suspiciousQuote: Int?

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
        // A comment that only looks like a long comment ends with its line.
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
            // Neither `&&` nor `||` can occur in valid Lua.
            let word = first == UInt8(ascii: "&") ? "and" : "or"
            throw SyntaxError("Lua has no \(text[start..<(start + 2)])", hint: "write \(word)", at: start..<(start + 2))
        }
        for length in [3, 2, 1] {
            let spelling = text.bytes[start...].prefix(length)
            guard let symbol = Symbol.spelled(spelling) else { continue }
            offset = spelling.endIndex
            return Token(kind: .symbol(symbol), range: start..<offset)
        }
        throw StrangeCharacter(text: text, start: start).error
    }

    private mutating func numeral() throws(SyntaxError) -> Token {
        let start = offset
        // The caller has already checked that a digit follows a leading dot.
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
                "\(spelling) is not a number",
                hint: "a range is for i = 1, 10 do; to join strings, write spaces around the dots: 1 .. \"st\"",
                at: start..<offset)
        }
        let isName = text.bytes[start].isDigit && spelling.utf8.contains { $0.isNameStart && $0.hexValue == nil }
        return SyntaxError(
            "\(spelling) is not a number",
            hint: isName && !spelling.lowercased().hasPrefix("0x") ? "a name cannot begin with a digit" : nil,
            at: start..<offset)
    }

    // MARK: - Strings

    private mutating func shortString() throws(SyntaxError) -> Token {
        let start = offset
        var reader = StringReader(text: text, offset: start)
        guard let value = try reader.readShort() else {
            if let doubt = suspiciousQuote, text.line(at: doubt) == text.line(at: start) { throw misplacedQuote(doubt) }
            let quote = text[start..<(start + 1)]
            throw SyntaxError(
                "the string that begins here is not closed on its line",
                hint: "close it with \(quote); write a string of several lines in [[ ]]",
                at: start..<(start + 1))
        }
        offset = reader.offset
        if text.byte(offset)?.isNamePart == true { suspiciousQuote = offset - 1 }
        return Token(kind: .string(value), range: start..<offset)
    }

    /// The error for a string that ends earlier than intended.
    func misplacedQuote(_ position: Int) -> SyntaxError {
        let quote = text[position..<(position + 1)]
        if let end = absorbedKeyComma(before: position) {
            return SyntaxError(
                "a \(quote) is missing before this comma: the string continues to the next \(quote)", hint: "close the string here",
                at: end..<(end + 1))
        }
        return SyntaxError(
            "the string ends at this \(quote), but more letters follow",
            hint: "inside a string write \\\(quote), or put the string into \(quote == "'" ? "\"…\"" : "'…'")",
            at: position..<(position + 1))
    }

    /// Finds the comma before a table key that an unclosed string has absorbed, as in `"phone, alert = "`.
    private func absorbedKeyComma(before position: Int) -> Int? {
        let quote = text.bytes[position]
        guard let begin = text.bytes[text.start(ofLine: text.line(at: position))..<position].lastIndex(of: quote) else { return nil }
        var rest = text.bytes[(begin + 1)..<position]
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
                "this long string is not closed", hint: "close it with ]\(String(repeating: "=", count: level))]",
                at: start..<(start + level + 2))
        }
        var reader = StringReader(text: text, offset: start + level + 2)
        let value = reader.readLong(to: offset - level - 2)
        return Token(kind: .string(value), range: start..<offset)
    }

    /// Moves past the end of a long bracket. Returns false if there is none.
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

    /// Number of `=` between the two opening brackets of a long string; nil if there is no long bracket here.
    private func bracketLevel(at start: Int) -> Int? {
        var end = start + 1
        while text.byte(end) == UInt8(ascii: "=") { end += 1 }
        return text.byte(end) == UInt8(ascii: "[") ? end - start - 1 : nil
    }

    private func longBracket() throws(SyntaxError) -> Int? {
        if let level = bracketLevel(at: offset) { return level }
        guard text.byte(offset + 1) == UInt8(ascii: "=") else { return nil }
        throw SyntaxError("[= begins a long string, but its second [ is missing", hint: "write [=[ … ]=]", at: offset..<(offset + 2))
    }
}
