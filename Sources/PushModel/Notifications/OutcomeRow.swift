/// The packed bytes of one device in a batch: the number of its kind, a byte with the form of each following value, then these values: the
/// registration, the installation, the handle and the push service's id.
///
/// Stores write rows unchanged, so these forms must never change; a new form needs a new version of the stored format.
enum OutcomeRow {
    private enum RegistrationForm {
        static let none: UInt8 = 0
        /// Two numbers of 8 bytes; the shard is 1.
        static let firstShard: UInt8 = 1
        /// Like `firstShard`, followed by the number of the shard.
        static let otherShard: UInt8 = 2
        static let text: UInt8 = 3
    }

    /// The form of an installation id or of a push service's id.
    private enum TextForm {
        static let none: UInt8 = 0
        /// 16 bytes. Read back in lower case.
        static let lowerUUID: UInt8 = 1
        static let upperUUID: UInt8 = 2
        static let text: UInt8 = 3
    }

    private enum HandleForm {
        /// As many texts as the platform's handles have: three for a browser, two for Baidu, otherwise one.
        static let texts: UInt8 = 0
        /// 32 bytes, read back as upper-case digits.
        static let token: UInt8 = 1
        /// The number of bytes, then the bytes.
        static let upperHex: UInt8 = 2
        static let lowerHex: UInt8 = 3
    }

    private static func shape(_ registration: UInt8, _ installation: UInt8, _ handle: UInt8, _ push: UInt8) -> UInt8 {
        registration | installation << 2 | handle << 4 | push << 6
    }

    // MARK: - Packing

    static func pack(
        _ registrationID: RegistrationID?, _ installationID: String?, _ handle: DeviceHandle, _ pushID: String?, kind: Int,
        to rows: inout [UInt8]
    ) {
        rows.append(number: UInt64(kind))
        let index = rows.count
        rows.append(0)
        rows[index] = shape(
            registrationID.map { pack($0, to: &rows) } ?? RegistrationForm.none, pack(installationID, to: &rows),
            pack(handle, to: &rows), pack(pushID, to: &rows))
    }

    static func pack(
        _ registration: RegistrationNumbers?, _ token: UnsafeRawBufferPointer, _ pushID: (UInt64, UInt64)?, kind: Int,
        to rows: inout [UInt8]
    ) {
        rows.append(number: UInt64(kind))
        let index = rows.count
        rows.append(0)
        let registrationForm = registration.map { pack($0, to: &rows) } ?? RegistrationForm.none
        if token.count != 32 { rows.append(number: UInt64(token.count)) }
        rows.append(contentsOf: token)
        if let pushID {
            rows.append(word: pushID.0.byteSwapped.littleEndian)
            rows.append(word: pushID.1.byteSwapped.littleEndian)
        }
        rows[index] = shape(
            registrationForm, TextForm.none, token.count == 32 ? HandleForm.token : HandleForm.upperHex,
            pushID == nil ? TextForm.none : TextForm.lowerUUID)
    }

    private static func pack(_ id: RegistrationID, to rows: inout [UInt8]) -> UInt8 {
        if let numbers = RegistrationNumbers(id) { return pack(numbers, to: &rows) }
        rows.append(text: id.text)
        return RegistrationForm.text
    }

    private static func pack(_ numbers: RegistrationNumbers, to rows: inout [UInt8]) -> UInt8 {
        rows.append(word: numbers.first)
        rows.append(word: numbers.second)
        if numbers.shard == 1 { return RegistrationForm.firstShard }
        rows.append(number: numbers.shard)
        return RegistrationForm.otherShard
    }

    private static func pack(_ text: String?, to rows: inout [UInt8]) -> UInt8 {
        guard var text else { return TextForm.none }
        let form = text.withUTF8 { bytes in
            HexCase.lower.packUUID(bytes, to: &rows)
                ? TextForm.lowerUUID : HexCase.upper.packUUID(bytes, to: &rows) ? TextForm.upperUUID : TextForm.text
        }
        if form == TextForm.text { rows.append(text: text) }
        return form
    }

    private static func pack(_ handle: DeviceHandle, to rows: inout [UInt8]) -> UInt8 {
        switch handle {
        case .apns(let token): return pack(token: token, to: &rows)
        case .browser(let endpoint, let p256dh, let auth):
            rows.append(text: endpoint)
            rows.append(text: p256dh)
            rows.append(text: auth)
        case .baidu(let user, let channel):
            rows.append(text: user)
            rows.append(text: channel)
        case .fcmV1, .gcm, .wns, .mpns, .adm, .xiaomi: rows.append(text: handle.text)
        }
        return HandleForm.texts
    }

    private static func pack(token: String, to rows: inout [UInt8]) -> UInt8 {
        var token = token
        let form = token.withUTF8 { digits in
            if digits.count == 64, HexCase.upper.pack(digits, to: &rows) { return HandleForm.token }
            let start = rows.count
            rows.append(number: UInt64(digits.count / 2))
            if HexCase.upper.pack(digits, to: &rows) { return HandleForm.upperHex }
            if HexCase.lower.pack(digits, to: &rows) { return HandleForm.lowerHex }
            rows.removeSubrange(start...)
            return HandleForm.texts
        }
        if form == HandleForm.texts { rows.append(text: token) }
        return form
    }

    // MARK: - Searching

    // The bytes to search for in a row: each value has the same bytes here as in the row.

    static func bytes(of id: RegistrationID) -> [UInt8] { bytes { pack(id, to: &$0) } }

    static func bytes(of handle: DeviceHandle) -> [UInt8] { bytes { pack(handle, to: &$0) } }

    /// The bytes of an installation id or of a push service's id.
    static func bytes(of text: String) -> [UInt8] { bytes { pack(text, to: &$0) } }

    private static func bytes(_ pack: (inout [UInt8]) -> UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = pack(&bytes)
        return bytes
    }

    // MARK: - Reading

    static func device(_ row: inout ByteCursor, kinds: [OutcomeBatch.Kind]) -> DeviceOutcome {
        let kind = kinds[Int(row.number())]
        let shape = row.byte()
        let registrationID = registration(shape & 3, &row)
        let installationID = text(shape >> 2 & 3, &row)
        let handle = handle(shape >> 4 & 3, of: kind.handlePlatform, &row)
        return DeviceOutcome(
            device: OutcomeDevice(
                registrationID: registrationID, installationID: installationID, platform: kind.platform, handle: handle,
                templateName: kind.templateName), outcome: kind.outcome, reason: kind.reason, cause: kind.cause,
            pushID: text(shape >> 6, &row), size: kind.size, isRegistrationRemoved: kind.isRegistrationRemoved)
    }

    private static func registration(_ form: UInt8, _ row: inout ByteCursor) -> RegistrationID? {
        switch form {
        case RegistrationForm.none: return nil
        case RegistrationForm.text: return RegistrationID(row.text())
        default:
            let (first, second) = (row.word(), row.word())
            let shard = form == RegistrationForm.firstShard ? 1 : row.number()
            return RegistrationNumbers(first: first, second: second, shard: shard).map { RegistrationID($0) }
        }
    }

    private static func text(_ form: UInt8, _ row: inout ByteCursor) -> String? {
        switch form {
        case TextForm.none: nil
        case TextForm.text: row.text()
        default: (form == TextForm.lowerUUID ? HexCase.lower : .upper).uuid(row.take(16))
        }
    }

    private static func handle(_ form: UInt8, of platform: Platform, _ row: inout ByteCursor) -> DeviceHandle {
        if form == HandleForm.texts, platform == .browser {
            let (endpoint, p256dh) = (row.text(), row.text())
            return .browser(endpoint: endpoint, p256dh: p256dh, auth: row.text())
        }
        if form == HandleForm.texts, platform == .baidu {
            let user = row.text()
            return .baidu(user: user, channel: row.text())
        }
        let text =
            switch form {
            case HandleForm.texts: row.text()
            case HandleForm.token: HexCase.upper.text(row.take(32))
            default: (form == HandleForm.upperHex ? HexCase.upper : .lower).text(row.take(row.count()))
            }
        return DeviceHandle(ofOneText: text, platform: platform)
    }

    /// Moves past a row. Moves beyond the end if the row is invalid or its kind is unknown.
    static func skip(_ row: inout ByteCursor, kinds: [OutcomeBatch.Kind]) {
        let kind = row.number()
        guard kind < UInt64(kinds.count) else { return row.leave() }
        let shape = row.byte()
        switch shape & 3 {
        case RegistrationForm.none: break
        case RegistrationForm.text: skipText(&row)
        case RegistrationForm.firstShard: _ = row.take(16)
        default:
            _ = row.take(16)
            _ = row.number()
        }
        skipText(shape >> 2 & 3, &row)
        let platform = kinds[Int(kind)].handlePlatform
        switch shape >> 4 & 3 {
        case HandleForm.texts: for _ in 0..<(platform == .browser ? 3 : platform == .baidu ? 2 : 1) { skipText(&row) }
        case HandleForm.token: _ = row.take(32)
        default: skipText(&row)
        }
        skipText(shape >> 6, &row)
    }

    private static func skipText(_ row: inout ByteCursor) { _ = row.take(row.count()) }

    private static func skipText(_ form: UInt8, _ row: inout ByteCursor) {
        switch form {
        case TextForm.none: break
        case TextForm.text: skipText(&row)
        default: _ = row.take(16)
        }
    }
}

extension DeviceHandle {
    /// Restores a stored handle. A browser or Baidu handle in one text occurs only in invalid bytes; it gets empty parts.
    fileprivate init(ofOneText text: String, platform: Platform) {
        self =
            DeviceHandle(platform: platform, unchecked: text)
            ?? (platform == .baidu ? .baidu(user: text, channel: "") : .browser(endpoint: text, p256dh: "", auth: ""))
    }
}
