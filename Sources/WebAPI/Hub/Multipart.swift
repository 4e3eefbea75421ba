import HubWire
import PushModel

/// The parts of a multipart body (RFC 2046, section 5.1), by name.
struct Multipart {
    struct Part {
        let name: String
        let body: ArraySlice<UInt8>
    }

    let parts: [Part]

    private static let maximumParts = 8
    private static let maximumHeaderLines = 32

    /// Lines may end with CR LF or LF. Text before the first and after the last delimiter is skipped. The closing delimiter may be missing,
    /// because some clients omit it; then the last part ends with the body. HTTP framing has already ensured that the body is complete.
    ///
    /// Throws `notification.batch` (400).
    init(body: [UInt8], contentType: String?) throws(PushError) {
        let type = HeaderParameters(contentType ?? "")
        guard type.value.hasPrefix("multipart/"), let boundary = type["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw Self.refusal("the Content-Type is not a multipart type with a boundary")
        }
        var reader = LineReader(body)
        let delimiter = Array("--\(boundary)".utf8)
        var parts: [Part] = []
        guard try Self.skip(to: delimiter, &reader) != nil else { throw Self.refusal("its boundary is not in the body") }
        while true {
            guard parts.count < Self.maximumParts else { throw Self.refusal("it has more than \(Self.maximumParts) parts") }
            let name = try Self.name(&reader)
            let start = reader.at
            guard let (end, isLast) = try Self.skip(to: delimiter, &reader) else {
                guard !Self.isCut(body[start...], in: delimiter) else { throw Self.refusal("it is cut off in its closing delimiter") }
                parts.append(Part(name: name, body: body[start...]))
                break
            }
            parts.append(Part(name: name, body: body[start..<max(start, end)]))
            if isLast { break }
        }
        self.parts = parts
    }

    subscript(name: String) -> ArraySlice<UInt8>? { parts.first { $0.name == name }?.body }

    /// Reads up to and including a delimiter line. Returns where the text before it ends; the preceding line end belongs to the delimiter.
    private static func skip(
        to delimiter: [UInt8], _ reader: inout LineReader
    ) throws(PushError) -> (end: Int, isLast: Bool)? {
        var end = reader.at
        while let line = reader.next() {
            if line.starts(with: delimiter) {
                let rest = line.dropFirst(delimiter.count)
                let isLast = rest.starts(with: "--".utf8)
                if rest.dropFirst(isLast ? 2 : 0).allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return (end, isLast) }
            }
            end = line.endIndex
        }
        return nil
    }

    /// Whether the last line is a truncated delimiter.
    private static func isCut(_ part: ArraySlice<UInt8>, in delimiter: [UInt8]) -> Bool {
        let line = part.suffix(from: (part.lastIndex(of: 0x0A) ?? part.startIndex - 1) + 1)
        return line.count > 1 && (delimiter + Array("--".utf8)).starts(with: line)
    }

    /// Reads the header lines of a part and the empty line after them. Returns the part's name.
    private static func name(_ reader: inout LineReader) throws(PushError) -> String {
        var name = ""
        for _ in 0..<maximumHeaderLines {
            guard let line = reader.next() else { break }
            if line.isEmpty { return name }
            let text = String(decoding: line, as: UTF8.self)
            guard let colon = text.firstIndex(of: ":") else { throw refusal("a part has a header without a colon") }
            if text[..<colon].trimmed.lowercased() == "content-disposition" {
                name = HeaderParameters(String(text[text.index(after: colon)...]))["name"] ?? ""
            }
        }
        throw refusal("the headers of a part do not end")
    }

    private static func refusal(_ why: String) -> PushError {
        PushError(
            "notification.batch", "the multipart body cannot be read: \(why)",
            hint: "send the parts notification and devices, each after the boundary given in the Content-Type", status: 400)
    }
}

private struct LineReader {
    private let bytes: [UInt8]
    private(set) var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next line, without its line end.
    mutating func next() -> ArraySlice<UInt8>? {
        guard at < bytes.count else { return nil }
        let end = bytes[at...].firstIndex(of: 0x0A) ?? bytes.count
        var text = bytes[at..<end]
        if end < bytes.count, text.last == 0x0D { text.removeLast() }
        at = min(end + 1, bytes.count)
        return text
    }
}
