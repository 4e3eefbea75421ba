import HubWire
import PushCore

/// The parts of a multipart body (RFC 2046, section 5.1), by their names.
struct Multipart {
    struct Part {
        let name: String
        let body: ArraySlice<UInt8>
    }

    let parts: [Part]

    private static let maximumParts = 8
    private static let maximumHeaderLines = 32

    /// Lines end with CR LF or LF; what stands before the first delimiter and behind the last is skipped. The closing delimiter may be
    /// missing, as some clients leave it out: then the last part ends with the body. Whether the body is whole is known before, from
    /// its Content-Length, its last chunk or the end of its stream.
    ///
    /// Throws `notification.batch` (400).
    init(body: [UInt8], contentType: String?) throws(PushError) {
        let type = HeaderParameters(contentType ?? "")
        guard type.value.hasPrefix("multipart/"), let boundary = type["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw Self.refusal("the Content-Type is no multipart type with a boundary")
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

    /// Reads lines up to and with a delimiter. Answers where the text before it ends; the line end there belongs to the delimiter.
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

    /// Whether the last line is the beginning of a delimiter.
    private static func isCut(_ part: ArraySlice<UInt8>, in delimiter: [UInt8]) -> Bool {
        let line = part.suffix(from: (part.lastIndex(of: 0x0A) ?? part.startIndex - 1) + 1)
        return line.count > 1 && (delimiter + Array("--".utf8)).starts(with: line)
    }

    /// Reads the lines of headers, and the empty line behind them.
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
            hint: "send the parts notification and devices, each behind the boundary of the Content-Type", status: 400)
    }
}

private struct LineReader {
    private let bytes: [UInt8]
    private(set) var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next line without its end.
    mutating func next() -> ArraySlice<UInt8>? {
        guard at < bytes.count else { return nil }
        let end = bytes[at...].firstIndex(of: 0x0A) ?? bytes.count
        var text = bytes[at..<end]
        if end < bytes.count, text.last == 0x0D { text.removeLast() }
        at = min(end + 1, bytes.count)
        return text
    }
}
