/// A key, or what it does in the line editor.
enum Key: Equatable {
    case text(Unicode.Scalar)
    case enter, tab, backspace, delete
    case left, right, wordLeft, wordRight, home, end, up, down
    /// Ctrl-K, Ctrl-U, Ctrl-W, Alt-D.
    case cutToEnd, cutToStart, cutWord, cutWordRight
    /// Ctrl-Y: inserts the most recently cut text.
    case paste
    case clearScreen, interrupt, endOfInput
    /// Ctrl-Z.
    case suspend
}

/// Decodes a terminal's bytes into keys: UTF-8, control characters, and the escape sequences of xterm-compatible terminals (ECMA-48). In
/// pasted text (bracketed paste mode) everything except line ends is text.
struct KeyDecoder {
    private enum State {
        case ground
        case utf8(bytes: [UInt8], missing: Int)
        case escape
        /// After `ESC [` or `ESC O`: the parameters so far.
        case sequence([UInt8])
    }

    private var state = State.ground
    private var isPasting = false
    /// Whether the last byte was a carriage return. A following line feed belongs to the same line end.
    private var isAfterReturn = false

    /// Decodes one byte. Returns the key that it completes, or nil.
    mutating func take(_ byte: UInt8) -> Key? {
        switch state {
        case .ground: return begin(byte)
        case .utf8(var bytes, let missing):
            guard byte & 0xc0 == 0x80 else {
                state = .ground
                return begin(byte)
            }
            bytes.append(byte)
            state = missing > 1 ? .utf8(bytes: bytes, missing: missing - 1) : .ground
            return missing > 1 ? nil : String(validating: bytes, as: UTF8.self)?.unicodeScalars.first.map(Key.text)
        case .escape:
            state = .ground
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence([])
            case UInt8(ascii: "b"): return .wordLeft
            case UInt8(ascii: "f"): return .wordRight
            case UInt8(ascii: "d"): return .cutWordRight
            case 0x7f, 0x08: return .cutWord
            case 0x1b: state = .escape
            default: break
            }
            return nil
        case .sequence(let parameters):
            if (0x20...0x3f).contains(byte) {
                if parameters.count < 16 { state = .sequence(parameters + [byte]) }
                return nil
            }
            state = .ground
            let key = String(decoding: parameters + [byte], as: UTF8.self)
            if key == "200~" || key == "201~" { isPasting = key == "200~" }
            return isPasting ? nil : Self.key(byte, String(decoding: parameters, as: UTF8.self))
        }
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        let isSecondHalf = isAfterReturn && byte == 0x0a
        isAfterReturn = byte == 0x0d
        if isSecondHalf { return nil }
        if isPasting, byte < 0x20, ![0x09, 0x0a, 0x0d, 0x1b].contains(byte) { return nil }
        switch byte {
        case 0x01: return .home
        case 0x02: return .left
        case 0x03: return .interrupt
        case 0x04: return .endOfInput
        case 0x05: return .end
        case 0x06: return .right
        case 0x08, 0x7f: return .backspace
        case 0x09: return isPasting ? .text("\t") : .tab
        case 0x0a, 0x0d: return .enter
        case 0x0b: return .cutToEnd
        case 0x0c: return .clearScreen
        case 0x0e: return .down
        case 0x10: return .up
        case 0x15: return .cutToStart
        case 0x17: return .cutWord
        case 0x19: return .paste
        case 0x1a: return .suspend
        case 0x1b: state = .escape
        case 0x20..<0x7f: return .text(Unicode.Scalar(byte))
        case 0xc2..<0xe0: state = .utf8(bytes: [byte], missing: 1)
        case 0xe0..<0xf0: state = .utf8(bytes: [byte], missing: 2)
        case 0xf0..<0xf5: state = .utf8(bytes: [byte], missing: 3)
        default: break
        }
        return nil
    }

    private static func key(_ final: UInt8, _ parameters: String) -> Key? {
        // `1;5C` is the right arrow with Ctrl; 3 in place of 5 is Alt.
        let isByWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isByWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isByWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch parameters {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            default: return nil
            }
        default: return nil
        }
    }
}
