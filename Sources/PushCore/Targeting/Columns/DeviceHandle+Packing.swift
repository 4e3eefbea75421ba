// Handles as bytes: an APNs token of the usual length as what its digits say, any other handle as its text.
extension DeviceHandle {
    /// Bytes of an APNs token as Apple gives them out.
    static let tokenSize = 32

    /// - Parameter body: gets the bytes, and whether they are a token's.
    func withPackedBytes<Result>(_ body: (UnsafeRawBufferPointer, _ isToken: Bool) -> Result) -> Result {
        if case .apns(var token) = self, token.utf8.count == 2 * Self.tokenSize {
            let packed: Result? = token.withUTF8 { digits in
                withUnsafeTemporaryAllocation(byteCount: Self.tokenSize, alignment: 8) { bytes in
                    guard Self.pack(UnsafeRawBufferPointer(digits), into: bytes) else { return nil }
                    return body(UnsafeRawBufferPointer(bytes), true)
                }
            }
            if let packed { return packed }
        }
        return withTextBytes { body($0, false) }
    }

    /// The handle as one text; the parts of a browser's subscription and of a Baidu handle are lines, for none of them can hold a
    /// line's end.
    func withTextBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text =
            switch self {
            case .browser(let endpoint, let p256dh, let auth): "\(endpoint)\n\(p256dh)\n\(auth)"
            case .baidu(let user, let channel): "\(user)\n\(channel)"
            default: self.text
            }
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// False for digits that the bytes would not give back: those in lower case are another text.
    static func pack(_ digits: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard digits.count == 2 * bytes.count else { return false }
        for index in 0..<bytes.count {
            guard let high = digits[2 * index].upperCaseDigit, let low = digits[2 * index + 1].upperCaseDigit else { return false }
            bytes[index] = high << 4 | low
        }
        return true
    }

    /// What `withPackedBytes` gave.
    init(_ platform: Platform, packed bytes: UnsafeRawBufferPointer, isToken: Bool) {
        if isToken {
            self = .apns(
                token: String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
                    for (index, byte) in bytes.enumerated() {
                        text[2 * index] = (byte >> 4).digit
                        text[2 * index + 1] = (byte & 15).digit
                    }
                    return 2 * bytes.count
                })
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        func part(_ number: Int) -> String {
            let parts = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            return number < parts.count ? String(Substring(parts[number])) : ""
        }
        self =
            DeviceHandle(platform: platform, unchecked: text)
            ?? (platform == .baidu
                ? .baidu(user: part(0), channel: part(1)) : .browser(endpoint: part(0), p256dh: part(1), auth: part(2)))
    }
}

extension UInt8 {
    /// Of a hexadecimal digit as handles have them.
    fileprivate var upperCaseDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        default: nil
        }
    }

    fileprivate var digit: UInt8 { self < 10 ? 0x30 + self : 0x41 + self - 10 }
}
