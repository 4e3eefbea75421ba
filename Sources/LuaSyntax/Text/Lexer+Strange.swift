extension Lexer {
    /// A character that begins no word of Lua: often a habit of another language, or of a word processor.
    func strange(at start: Int) -> SyntaxError {
        let tail = text.bytes[start...].prefix(8)
        guard let scalar = String(decoding: tail, as: UTF8.self).unicodeScalars.first, scalar != "\u{fffd}" || tail.count > 2 else {
            return SyntaxError("this is not text", hint: "save the script as UTF-8", at: start..<(start + 1))
        }
        let range = start..<min(start + UTF8.width(scalar), text.bytes.count)
        let next = text.byte(range.upperBound)
        switch scalar {
        case "!" where next == UInt8(ascii: "="):
            return SyntaxError("Lua has no !=", hint: "\"not equal\" is ~=", at: start..<(start + 2))
        case "!": return SyntaxError("Lua has no !", hint: "write not", at: range)
        case "?": return SyntaxError("Lua has no ?", hint: "write if … then … else … end, or: condition and this or that", at: range)
        case "`":
            return SyntaxError("Lua has no texts in backticks", hint: "texts stand in \"…\" or '…', and are joined with ..", at: range)
        case "\\": return SyntaxError("a backslash stands in texts only", hint: "Lua needs no sign to go on in the next line", at: range)
        case "\u{0}": return SyntaxError("a NUL character: this is no script", at: range)
        case "“", "”", "„", "‟", "«", "»", "‘", "’", "‚", "‛":
            return SyntaxError("\(scalar) is a typographic quote", hint: "texts stand in \"…\" or '…'", at: range)
        case "–", "—", "−": return SyntaxError("\(scalar) is no minus sign of Lua", hint: "write -", at: range)
        case "≠": return SyntaxError("Lua does not know \(scalar)", hint: "write ~=", at: range)
        case "≤": return SyntaxError("Lua does not know \(scalar)", hint: "write <=", at: range)
        case "≥": return SyntaxError("Lua does not know \(scalar)", hint: "write >=", at: range)
        default: break
        }
        if scalar.properties.isWhitespace || ["\u{200b}", "\u{200c}", "\u{200d}", "\u{feff}", "\u{2060}"].contains(scalar) {
            return SyntaxError(
                "an invisible character (U+\(hex(scalar))) that Lua does not take for a blank", hint: "delete it and type a blank",
                at: range)
        }
        if scalar.properties.isAlphabetic {
            return SyntaxError(
                "\(scalar) cannot be part of a name", hint: "names have the letters a to z, digits and _; other letters stand in texts",
                at: range)
        }
        let shown = scalar.properties.generalCategory == .control ? "U+\(hex(scalar))" : String(scalar)
        return SyntaxError("Lua does not know the sign \(shown)", at: range)
    }

    private func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
