/// A character that begins no token of Lua. Often it comes from another language or from a word processor.
struct StrangeCharacter {
    let text: SourceText
    let start: Int

    /// The error for it.
    var error: SyntaxError {
        let tail = text.bytes[start...].prefix(8)
        guard let scalar = String(decoding: tail, as: UTF8.self).unicodeScalars.first, scalar != "\u{fffd}" || tail.count > 2 else {
            return SyntaxError("this is not UTF-8 text", hint: "save the script as UTF-8", at: start..<(start + 1))
        }
        let range = start..<min(start + UTF8.width(scalar), text.bytes.count)
        let next = text.byte(range.upperBound)
        switch scalar {
        case "!" where next == UInt8(ascii: "="):
            return SyntaxError("Lua has no !=", hint: "\"not equal\" is ~=", at: start..<(start + 2))
        case "!": return SyntaxError("Lua has no !", hint: "write not", at: range)
        case "?": return SyntaxError("Lua has no ?", hint: "write if … then … else … end, or: condition and this or that", at: range)
        case "`":
            return SyntaxError("Lua has no strings in backticks", hint: "write strings in \"…\" or '…', and join them with ..", at: range)
        case "\\":
            return SyntaxError(
                "a backslash is only allowed in strings", hint: "Lua needs no character to continue on the next line", at: range)
        case "\u{0}": return SyntaxError("a NUL character: this is not a script", at: range)
        case "“", "”", "„", "‟", "«", "»", "‘", "’", "‚", "‛":
            return SyntaxError("\(scalar) is a typographic quote", hint: "write strings in \"…\" or '…'", at: range)
        case "–", "—", "−": return SyntaxError("\(scalar) is not the minus sign of Lua", hint: "write -", at: range)
        case "≠": return SyntaxError("\(scalar) is not a Lua operator", hint: "write ~=", at: range)
        case "≤": return SyntaxError("\(scalar) is not a Lua operator", hint: "write <=", at: range)
        case "≥": return SyntaxError("\(scalar) is not a Lua operator", hint: "write >=", at: range)
        default: break
        }
        if scalar.properties.isWhitespace || ["\u{200b}", "\u{200c}", "\u{200d}", "\u{feff}", "\u{2060}"].contains(scalar) {
            return SyntaxError(
                "an invisible character (U+\(hex(scalar))) that Lua does not treat as a space", hint: "delete it and type a space",
                at: range)
        }
        if scalar.properties.isAlphabetic {
            return SyntaxError(
                "\(scalar) cannot be part of a name",
                hint: "use the letters a to z, digits and _ in names; other letters are only allowed in strings",
                at: range)
        }
        let shown = scalar.properties.generalCategory == .control ? "U+\(hex(scalar))" : String(scalar)
        return SyntaxError("\(shown) is not a character of Lua", at: range)
    }

    private func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
