import PushModel
import Testing

@Suite struct PEMTextTests {
    private static let bytes = (0..<138).map { UInt8($0) }
    private static let block = PEMBlock(label: "PRIVATE KEY", bytes: bytes)
    private static let strict = block.text
    private static let lines = strict.split(separator: "\n").map(String.init)
    private static let base64 = lines.dropFirst().dropLast().joined()

    private static func wrapped(_ width: Int, end: String = "\n") -> String {
        let letters = Array(base64)
        let body = stride(from: 0, to: letters.count, by: width).map { String(letters[$0..<min($0 + width, letters.count)]) }
        return ([lines[0]] + body + [lines[lines.count - 1]]).joined(separator: end)
    }

    private func blocks(_ text: String) -> [PEMBlock] { PEMText(Array(text.utf8)).blocks }

    @Test func `the strict form has 64 characters per line`() {
        #expect(Self.lines.count == 5 && Self.lines[1].count == 64 && Self.lines[3].count == 56)
        #expect(Self.strict.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && Self.strict.hasSuffix("\n-----END PRIVATE KEY-----\n"))
        #expect(blocks(Self.strict) == [Self.block])
    }

    @Test(arguments: [1, 19, 63, 64, 65, 76, 1000])
    func `lines may have any length and any line ending`(width: Int) {
        for end in ["\n", "\r\n", "\r", " \n", "\n\n", "\n\t", " ", #"\n"#, #"\r\n"#, #"\\n"#] {
            #expect(blocks(Self.wrapped(width, end: end)) == [Self.block], "\(end.debugDescription)")
        }
    }

    @Test func `a document may be on one line, without whitespace`() {
        #expect(blocks(Self.lines.joined()) == [Self.block])
        #expect(blocks("\"\(Self.lines.joined())\"") == [Self.block])
        #expect(blocks(Self.lines.joined().replacing("/", with: #"\/"#)) == [Self.block])
    }

    @Test func `text around documents is ignored, in any encoding`() {
        let latin: [UInt8] = Array("Bag Attributes\n    friendlyName: M".utf8) + [0xFC] + Array("ller\n".utf8)
        let other = PEMBlock(label: "CERTIFICATE", bytes: [1, 2, 3, 4])
        let text = latin + Array(Self.wrapped(76).utf8) + Array("\nsubject=/CN=a\n".utf8) + Array(other.text.utf8) + latin
        #expect(PEMText(text).blocks == [Self.block, other] && !PEMText(text).isDamaged)
        #expect(PEMText.strict(text) == Array((Self.strict + other.text).utf8))
    }

    @Test func `byte order marks are skipped, and UTF-16 with one is read`() {
        #expect(blocks("\u{feff}" + Self.strict) == [Self.block])
        for isLittle in [true, false] {
            let units = [0xFEFF] + Array(Self.wrapped(64, end: "\r\n").utf16)
            let text = units.flatMap { unit in
                isLittle ? [UInt8(unit & 0xFF), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            }
            #expect(PEMText(text).blocks == [Self.block])
        }
    }

    @Test func `base64 may omit its padding, but may not contain padding inside`() {
        let short = PEMBlock(label: "X", bytes: [1, 2, 3, 4])
        #expect(short.text.contains("AQIDBA==\n"))
        #expect(blocks(short.text.replacing("==", with: "")) == [short])
        let broken = PEMText(Array(short.text.replacing("AQIDBA==", with: "AQ==IDBA").utf8))
        #expect(broken.blocks.isEmpty && broken.isDamaged)
    }

    @Test func `headers of an encrypted key are preserved`() {
        let text =
            "-----BEGIN RSA PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,00\r\n\r\nAQIDBA==\r\n-----END RSA PRIVATE KEY-----"
        let block = PEMBlock(
            label: "RSA PRIVATE KEY", headers: ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,00"], bytes: [1, 2, 3, 4])
        #expect(blocks(text) == [block] && block.isEncrypted && block.isPrivateKey && !Self.block.isEncrypted)
        #expect(blocks(block.text) == [block])
    }

    @Test(arguments: [
        "-----BEGIN PRIVATE KEY-----\nAQID", "-----BEGIN PRIVATE KEY-----\nAQID\n-----END PUBLIC KEY-----",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----",
    ])
    func `a document without an end or without content is damaged and stays unchanged`(text: String) {
        let read = PEMText(Array(text.utf8))
        #expect(read.blocks.isEmpty && read.isDamaged)
        #expect(PEMText.strict(Array((Self.strict + text).utf8)) == Array((Self.strict + text).utf8))
    }

    @Test(arguments: ["", "-", "-----", "-----BEGIN ", "----- BEGIN A-----", "-----BEGIN \n-----", "junk", "-----END A-----"])
    func `text without PEM has no documents and is not damaged`(text: String) {
        let read = PEMText(Array(text.utf8))
        #expect(read.blocks.isEmpty && !read.isDamaged)
        #expect(PEMText.strict(Array(text.utf8)) == Array(text.utf8))
    }

    @Test func `text that contains only BEGIN lines is read in one pass`() {
        let text = Array(String(repeating: "-----BEGIN A-----\n", count: 50_000).utf8)
        #expect(PEMText(text).blocks.isEmpty && PEMText(text).isDamaged)
    }
}
