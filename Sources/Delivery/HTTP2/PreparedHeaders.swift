import CNGHTTP2
import PushModel

/// A header template in the form of libnghttp2: constant texts, which it does not copy, and fields for path and id, which it copies.
final class PreparedHeaders {
    let template: HeaderTemplate
    private let texts: UnsafeMutablePointer<UInt8>
    private let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    private let idText: UnsafeMutablePointer<UInt8>
    /// Index of `content-length`; `nil` if the header is not sent.
    private let lengthIndex: Int?
    /// Index of `:path`, after method, scheme and authority.
    private static let pathIndex = 3

    init(_ template: HeaderTemplate) {
        self.template = template
        var list: [(name: String, value: String)] = [
            (":method", "POST"), (":scheme", "https"), (":authority", template.origin.authority), (":path", ""),
        ]
        if let authorization = template.authorization { list.append(("authorization", authorization.reveal())) }
        // Names are lower-case (RFC 9113, section 8.2.1).
        list += template.fields.map { ($0.name.lowercased(), $0.value) }
        lengthIndex = template.sendsContentLength ? list.count : nil
        if template.sendsContentLength { list.append(("content-length", String(repeating: "0", count: Self.maximumDigits))) }
        list.append(("apns-id", String(repeating: "0", count: PushID.textSize)))
        texts = .allocate(capacity: list.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count })
        fields = .allocate(capacity: list.count)
        var end = texts
        for (index, field) in list.enumerated() {
            let isOwn = index == Self.pathIndex || index == lengthIndex || index == list.count - 1
            let name = Self.write(field.name, at: &end)
            let value = Self.write(field.value, at: &end)
            fields.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: name, value: value, namelen: field.name.utf8.count, valuelen: field.value.utf8.count,
                    flags: isOwn ? Self.own : Self.constant))
        }
        idText = fields[list.count - 1].value
    }

    deinit {
        texts.deallocate()
        fields.deallocate()
    }

    private static let maximumDigits = 20

    /// Values of a single request are not indexed: they would only fill the peer's header table.
    private static let own = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    private static let constant = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)

    private static func write(_ text: String, at end: inout UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let start = end
        for byte in text.utf8 {
            end.initialize(to: byte)
            end += 1
        }
        return start
    }

    /// Calls `body` with the fields of one request. `length` is the size of its body, in bytes.
    func withFields<Result>(
        path: UnsafeBufferPointer<UInt8>, id: PushID?, length: @autoclosure () -> Int,
        _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        // An empty buffer has no address; with a length of 0, the pointer is not read.
        fields[Self.pathIndex].value = path.baseAddress.map { UnsafeMutablePointer(mutating: $0) } ?? texts
        fields[Self.pathIndex].valuelen = path.count
        if let lengthIndex { write(length(), at: lengthIndex) }
        id?.write(to: idText)
        return body(UnsafeBufferPointer(rebasing: fields[..<(id == nil ? fields.count - 1 : fields.count)]))
    }

    private func write(_ number: Int, at index: Int) {
        var count = 0
        for digit in String(number).utf8 {
            fields[index].value[count] = digit
            count += 1
        }
        fields[index].valuelen = count
    }
}
