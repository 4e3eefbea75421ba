/// An array as one parameter, for statements that store or find many rows.
struct PostgreSQLArray<Element: PostgreSQLValue>: PostgreSQLValue {
    static var type: UInt32 { Element.arrayType }
    static var arrayType: UInt32 { Element.arrayType }

    let elements: [Element]

    init(_ elements: some Sequence<Element>) { self.elements = Array(elements) }

    func append(to bytes: inout [UInt8]) -> Bool {
        // Dimensions, whether elements may be NULL, their type; then the length and the lower bound of the dimension.
        Int32(elements.isEmpty ? 0 : 1).appendBigEndian(to: &bytes)
        Int32(1).appendBigEndian(to: &bytes)
        Element.type.appendBigEndian(to: &bytes)
        if elements.isEmpty { return true }
        Int32(elements.count).appendBigEndian(to: &bytes)
        Int32(1).appendBigEndian(to: &bytes)
        for element in elements {
            let start = bytes.count
            Int32(-1).appendBigEndian(to: &bytes)
            guard element.append(to: &bytes) else { continue }
            let length = Int32(bytes.count - start - 4)
            Swift.withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        }
        return true
    }
}
