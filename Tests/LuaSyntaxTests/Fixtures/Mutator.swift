/// Changes scripts randomly, leaving most of the text as it is.
struct Mutator {
    var random: Seeded

    private static let words: [String] = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
        "repeat",
        "return", "then", "true", "until", "while", "+", "-", "*", "/", "//", "%", "^", "#", "&", "~", "|", "<<", ">>", "==", "~=", "<=",
        ">=",
        "<", ">", "=", "(", ")", "{", "}", "[", "]", "::", ";", ":", ",", ".", "..", "...", "x", "self", "_ENV", "\"a\"", "'b'", "[[c]]",
        "1",
        "2.5", "0x1p4", "3e", "0x", "1..2", "\\", "\"", "'", "--", "--[[", "--[==[", "]]", "\n", "\r", "\t", "<const>", "<close>", "::l::",
        "goto l", "goto continue", "::continue::", "local x <const> = 1", "x = 2", "\\z", "\\u{41}", "\\x4", "!", "é", "\\300", "a.b",
        "a:b()", "function() end", "for i = 1, 2 do end", "repeat local z until z", "do local q; ::m:: end", "return ...",
        "local x <close> = y",
    ]

    /// Returns a part of the script of at most 1,500 bytes, with up to four changes.
    mutating func mutated(_ script: [UInt8]) -> [UInt8] {
        var bytes = script
        if bytes.count > 1500 {
            let start = Int.random(in: 0..<(bytes.count - 1500), using: &random)
            bytes = Array(bytes[start..<(start + 1500)])
        }
        // A part of a script is often invalid already, so whole scripts are changed too.
        if Bool.random(using: &random), script.count < 6000 { bytes = script }
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        let word = Self.words.randomElement(using: &random) ?? "x"
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes.remove(at: index)
        case 1: bytes.insert(contentsOf: " \(word) ".utf8, at: index)
        case 2: bytes.insert(contentsOf: word.utf8, at: index)
        case 3: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...20, using: &random)))
        case 4:
            let piece = bytes[index..<min(bytes.count, index + Int.random(in: 1...30, using: &random))]
            bytes.insert(contentsOf: piece, at: Int.random(in: 0...bytes.count, using: &random))
        case 5: bytes[index] = UInt8.random(in: 0...255, using: &random)
        default:
            let isName = { (byte: UInt8) in byte == 0x5f || (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20) }
            let start = index - bytes[..<index].reversed().prefix(while: isName).count
            let end = index + bytes[index...].prefix(while: isName).count
            bytes.replaceSubrange(start..<end, with: word.utf8)
        }
    }
}
