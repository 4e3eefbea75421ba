import Support
import Testing

@testable import Storage

@Suite struct PostgreSQLTextTests {
    private func stored(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [7]
        PostgreSQLText.append(text, to: &bytes)
        return Array(bytes.dropFirst())
    }

    /// The character that begins an escape. Swift has no literal for it.
    private static let mark = String(decoding: [0xEF, 0xB7, 0x90], as: UTF8.self)
    private static let texts = [
        "", "a", "\u{0}", mark, mark + "0", mark + "1", "\u{0}" + mark + "\u{0}", "a\u{0}b", "\u{FDCF}\u{FDF0}", "ﷲ", mark + mark,
        Samples.oddText,
    ]

    @Test(arguments: texts)
    func `A text is stored without NUL and returned unchanged`(text: String) {
        let stored = stored(text)
        #expect(!stored.contains(0))
        #expect(stored.withUnsafeBytes { PostgreSQLText.plain($0) } == Array(text.utf8))
        #expect(String(validating: stored, as: UTF8.self) != nil)
    }

    @Test func `Different texts stay different`() {
        #expect(Set(Self.texts.map(stored)).count == Self.texts.count)
    }
}
