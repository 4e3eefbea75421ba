extension [UInt8] {
    /// Whether these bytes contain the text. The standard library's `firstRange(of:)` is not specialised for bytes: for a short payload it
    /// takes a hundred times as long.
    func contains(text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count > 0 else { return true }
        guard count <= self.count else { return false }
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: count)
        return withUnsafeBufferPointer { bytes in
            (0...bytes.count - count).contains { start in
                var length = 0
                while length < count, bytes[start + length] == wanted[length] { length += 1 }
                return length == count
            }
        }
    }
}
