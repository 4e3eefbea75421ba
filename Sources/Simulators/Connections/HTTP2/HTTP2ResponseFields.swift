import CNGHTTP2
import HTTPTypes

/// The header block of a response in the form of libnghttp2.
struct HTTP2ResponseFields {
    private var text: [UInt8] = []
    private var spans: [(name: Range<Int>, value: Range<Int>, isIndexed: Bool)] = []

    init(_ response: HTTPResponse) {
        spans.reserveCapacity(response.headerFields.count + 1)
        add(":status", String(response.status.code))
        for field in response.headerFields { add(field.name.canonicalName, field.value) }
    }

    private mutating func add(_ name: String, _ value: String) {
        let start = text.count
        text.append(contentsOf: name.utf8)
        let middle = text.count
        text.append(contentsOf: value.utf8)
        // Ids are always new, so indexing them would evict other entries from the client's table (RFC 7541 section 7.1).
        spans.append((start..<middle, middle..<text.count, !name.hasSuffix("-id")))
    }

    /// Passes the fields to `body`, which must copy them.
    func withFields(_ body: (UnsafePointer<nghttp2_nv>, Int) -> Void) {
        var text = text
        text.withUnsafeMutableBufferPointer { text in
            guard let start = text.baseAddress else { return }
            let fields = spans.map { span in
                nghttp2_nv(
                    name: start + span.name.lowerBound, value: start + span.value.lowerBound, namelen: span.name.count,
                    valuelen: span.value.count,
                    flags: UInt8(span.isIndexed ? NGHTTP2_NV_FLAG_NONE.rawValue : NGHTTP2_NV_FLAG_NO_INDEX.rawValue))
            }
            fields.withUnsafeBufferPointer { if let base = $0.baseAddress { body(base, $0.count) } }
        }
    }
}
