/// A position in a text for people: lines and columns from 1, columns in characters.
///
/// A line ends at LF, CR or CR LF, whatever the format of the text.
struct TextPosition: Sendable, Equatable {
    let line: Int
    let column: Int

    /// - Parameter offset: in bytes, from 0; may equal the number of bytes, for the end.
    init(of offset: Int, in bytes: [UInt8]) {
        var line = 1
        var start = 0
        let end = min(offset, bytes.count)
        for index in 0..<end {
            let isLF = bytes[index] == 0x0A
            let isLoneCR = bytes[index] == 0x0D && (index + 1 == bytes.count || bytes[index + 1] != 0x0A)
            if isLF || isLoneCR {
                line += 1
                start = index + 1
            }
        }
        self.line = line
        column = String(decoding: bytes[start..<end], as: UTF8.self).count + 1
    }
}
