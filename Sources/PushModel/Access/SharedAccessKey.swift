/// Makes and checks the keys of authorization rules: 32 random bytes in base64, 44 characters of which only the last is `=`. Clients sign
/// with the text itself, and some accept only this form.
package enum SharedAccessKey {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func make(_ random: some RandomSource) -> Secret {
        var text: [UInt8] = []
        var (word, bits) = (0, 0)
        for byte in random.bytes(32) {
            (word, bits) = (word << 8 | Int(byte), bits + 8)
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[word >> bits & 63])
            }
            word &= 1 << bits - 1
        }
        text.append(alphabet[word << (6 - bits)])
        text.append(UInt8(ascii: "="))
        return Secret(String(decoding: text, as: UTF8.self))
    }

    package static func isValid(_ text: String) -> Bool {
        text.utf8.count == 44 && text.utf8.last == UInt8(ascii: "=") && text.utf8.dropLast().allSatisfy(alphabet.contains)
    }
}
