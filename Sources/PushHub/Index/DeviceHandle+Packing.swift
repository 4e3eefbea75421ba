import PushModel

// Packed device handles: an APNs token of the usual length as its decoded bytes, any other handle as text.
extension DeviceHandle {
    /// Size of the APNs tokens that Apple issues, in bytes.
    static let tokenSize = 32

    /// - Parameter body: receives the bytes, and whether they are a decoded token.
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

    /// The handle as one text. The parts of a browser subscription or Baidu handle are separated by line feeds, which no part can
    /// contain.
    func withTextBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text =
            switch self {
            case .browser(let endpoint, let p256dh, let auth): "\(endpoint)\n\(p256dh)\n\(auth)"
            case .baidu(let user, let channel): "\(user)\n\(channel)"
            default: self.text
            }
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Decodes hexadecimal digits. Returns false if the bytes would not restore the same text, as with lower-case digits.
    static func pack(_ digits: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard digits.count == 2 * bytes.count, bytes.count.isMultiple(of: 4) else { return false }
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            let text = UInt64(littleEndian: digits.loadUnaligned(fromByteOffset: 2 * offset, as: UInt64.self))
            guard let word = HexadecimalWord(upperCase: text) else { return false }
            bytes.storeBytes(of: word.bytes.littleEndian, toByteOffset: offset, as: UInt32.self)
        }
        return true
    }

    /// Restores a handle from the output of `withPackedBytes(_:)`.
    init(_ platform: Platform, packed bytes: UnsafeRawBufferPointer, isToken: Bool) {
        if isToken {
            self = .apns(
                token: String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
                    let text = UnsafeMutableRawBufferPointer(text)
                    for offset in stride(from: 0, to: bytes.count, by: 4) {
                        let word = HexadecimalWord(
                            bytes: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
                        text.storeBytes(of: word.upperCase.littleEndian, toByteOffset: 2 * offset, as: UInt64.self)
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

/// Converts between four bytes and eight hexadecimal digits in one step. The lowest byte of a word is the first.
private struct HexadecimalWord {
    let bytes: UInt32

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let lowHalves: UInt64 = 0x0F0F_0F0F_0F0F_0F0F

    init(bytes: UInt32) { self.bytes = bytes }

    /// Returns nil unless all characters are `0`–`9` or `A`–`F`.
    init?(upperCase text: UInt64) {
        // Letters have bit 6 set; their value is the low half plus nine.
        let values = (text & Self.lowHalves) &+ (text >> 6 & Self.ones) &* 9
        guard values & ~Self.lowHalves == 0, Self.digits(values) == text else { return nil }
        var pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        pairs = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        bytes = UInt32(truncatingIfNeeded: pairs | pairs >> 16)
    }

    var upperCase: UInt64 {
        var pairs = UInt64(bytes)
        pairs = (pairs | pairs << 16) & 0x0000_FFFF_0000_FFFF
        pairs = (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF
        return Self.digits(pairs >> 4 & 0x000F_000F_000F_000F | (pairs & 0x000F_000F_000F_000F) << 8)
    }

    /// - Parameter values: one digit value (0 to 15) per byte.
    private static func digits(_ values: UInt64) -> UInt64 {
        let areLetters = (values &+ ones &* 6) >> 4 & ones
        return values &+ ones &* 0x30 &+ areLetters &* 7
    }
}
