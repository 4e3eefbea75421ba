import CNGHTTP2
import PushCore

/// A template as libnghttp2 takes it: constant texts that it does not copy, and a place each for path and id, which it does.
final class PreparedHeaders {
    let template: HeaderTemplate
    private let texts: UnsafeMutablePointer<UInt8>
    private let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    private let idText: UnsafeMutablePointer<UInt8>
    /// Of the length of the body; nil where it is not said.
    private let lengthPlace: Int?
    /// Behind method, scheme and authority.
    private static let pathPlace = 3

    init(_ template: HeaderTemplate) {
        self.template = template
        var list: [(name: String, value: String)] = [
            (":method", "POST"), (":scheme", "https"), (":authority", template.origin.authority), (":path", ""),
        ]
        if let authorization = template.authorization { list.append(("authorization", authorization.reveal())) }
        // In lower case (RFC 9113, section 8.2.1).
        list += template.fields.map { ($0.name.lowercased(), $0.value) }
        lengthPlace = template.statesLength ? list.count : nil
        if template.statesLength { list.append(("content-length", String(repeating: "0", count: Self.mostDigits))) }
        list.append(("apns-id", String(repeating: "0", count: PushID.textSize)))
        texts = .allocate(capacity: list.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count })
        fields = .allocate(capacity: list.count)
        var end = texts
        for (place, field) in list.enumerated() {
            let isOwn = place == Self.pathPlace || place == lengthPlace || place == list.count - 1
            let name = Self.write(field.name, at: &end)
            let value = Self.write(field.value, at: &end)
            fields.initializeElement(
                at: place,
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

    private static let mostDigits = 20

    /// Of no use to other requests, so that it takes no room in the peer's table.
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

    /// The fields of one request; `length` is that of its body, in bytes.
    func withFields<Result>(
        path: UnsafeBufferPointer<UInt8>, id: PushID?, length: @autoclosure () -> Int,
        _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        // Without bytes there is no address, and a length of 0 is never looked behind.
        fields[Self.pathPlace].value = path.baseAddress.map { UnsafeMutablePointer(mutating: $0) } ?? texts
        fields[Self.pathPlace].valuelen = path.count
        if let lengthPlace { write(length(), at: lengthPlace) }
        id?.write(to: idText)
        return body(UnsafeBufferPointer(rebasing: fields[..<(id == nil ? fields.count - 1 : fields.count)]))
    }

    private func write(_ number: Int, at place: Int) {
        var count = 0
        for digit in String(number).utf8 {
            fields[place].value[count] = digit
            count += 1
        }
        fields[place].valuelen = count
    }
}
