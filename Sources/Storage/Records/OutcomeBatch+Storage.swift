import PushCore

/// A batch of outcomes as bytes: the version; the texts that its kinds use; the kinds; how many devices; in version 2 the moments of
/// their verdicts; their rows; a sum of all that in 8 bytes. Integers are `ByteCursor`'s numbers, a text has its length before it.
///
/// A kind is the codes of its platform, of its handles' platform and of its outcome, a byte of marks (1: it has a template's name,
/// 2: registrations were removed), the numbers of its texts, and the size. A moment is how far its first device is behind that of the
/// moment before, and the milliseconds since 1970 in 8 bytes. A batch that has none is of version 1.
extension OutcomeBatch {
    private static let plain: UInt8 = 1
    private static let timed: UInt8 = 2

    var stored: [UInt8] {
        let moments = moments.filter { $0.first < count }
        var bytes = [moments.isEmpty ? Self.plain : Self.timed]
        var texts: [String] = []
        var numbers: [String: Int] = [:]
        func number(of text: String) -> UInt64 {
            if let number = numbers[text] { return UInt64(number) }
            numbers[text] = texts.count
            texts.append(text)
            return UInt64(texts.count - 1)
        }
        var described: [UInt8] = []
        described.append(number: UInt64(kinds.count))
        for kind in kinds {
            described += [
                kind.platform.storedCode, kind.handlePlatform.storedCode, kind.outcome.storedCode,
                (kind.templateName == nil ? 0 : 1) | (kind.isRegistrationRemoved ? 2 : 0),
            ]
            if let name = kind.templateName { described.append(number: number(of: name)) }
            described.append(number: number(of: kind.reason))
            described.append(number: number(of: kind.explanation))
            described.append(number: UInt64(bitPattern: Int64(kind.size)))
        }
        bytes.append(number: UInt64(texts.count))
        for text in texts { bytes.append(text: text) }
        bytes += described
        bytes.append(number: UInt64(count))
        if !moments.isEmpty { describe(moments, in: &bytes) }
        bytes.reserveCapacity(bytes.count + rows.count + 8)
        bytes += rows
        bytes.append(word: bytes.withUnsafeBytes { Self.sum($0) })
        return bytes
    }

    private func describe(_ moments: [Moment], in bytes: inout [UInt8]) {
        bytes.append(number: UInt64(moments.count))
        var last = 0
        for moment in moments {
            bytes.append(number: UInt64(moment.first - last))
            bytes.append(word: UInt64(bitPattern: moment.time.milliseconds))
            last = moment.first
        }
    }

    init(stored bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { try Self.read($0) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws -> OutcomeBatch {
        let length = bytes.count - 8
        guard length > 0 else { throw UnreadableValue(reason: "\(bytes.count) bytes are no batch of outcomes") }
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<length])
        guard UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: length, as: UInt64.self)) == sum(content) else {
            throw UnreadableValue(reason: "its bytes are not those that were kept")
        }
        var cursor = ByteCursor(content)
        let version = cursor.byte()
        guard version == Self.plain || version == Self.timed else {
            throw UnreadableValue(reason: "version \(version) of batches is not known")
        }
        let texts = (0..<cursor.count()).map { _ in cursor.text() }
        let kinds = try (0..<cursor.count()).map { _ in try kind(&cursor, texts) }
        let count = Int(clamping: cursor.number())
        let moments = version == Self.timed ? moments(&cursor) : []
        guard !cursor.isBeyond,
            let batch = OutcomeBatch(kinds: kinds, rows: Array(content[cursor.offset...]), count: count, moments: moments)
        else {
            throw UnreadableValue(reason: "its \(count) devices are not whole")
        }
        return batch
    }

    private static func moments(_ cursor: inout ByteCursor) -> [Moment] {
        var last = 0
        return (0..<cursor.count()).map { _ in
            last = Int(clamping: UInt64(last) &+ cursor.number())
            return Moment(first: last, time: Timestamp(milliseconds: Int64(bitPattern: cursor.word())))
        }
    }

    private static func kind(_ cursor: inout ByteCursor, _ texts: [String]) throws -> Kind {
        func text() throws -> String {
            let number = cursor.number()
            guard number < UInt64(texts.count) else { throw UnreadableValue(reason: "it has no text \(number)") }
            return texts[Int(number)]
        }
        let (platform, handlePlatform) = (try Platform(storedCode: cursor.byte()), try Platform(storedCode: cursor.byte()))
        let outcome = try OutcomeName(storedCode: cursor.byte())
        let marks = cursor.byte()
        return Kind(
            platform: platform, handlePlatform: handlePlatform, templateName: marks & 1 == 0 ? nil : try text(), outcome: outcome,
            reason: try text(), explanation: try text(), size: Int(Int64(bitPattern: cursor.number())),
            isRegistrationRemoved: marks & 2 != 0)
    }

    /// Tells damage, not intent. Each step can be undone, so that a change within eight bytes never goes unseen.
    static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count)
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
            sum ^= sum >> 29
        }
        let whole = bytes.count & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        add(bytes[whole...].reduce(0) { $0 << 8 | UInt64($1) })
        return sum
    }
}

// MARK: - Codes

extension Platform {
    /// These never change; a new platform comes last. The first has code 1.
    private static let storedCodes: [Platform] = [.apns, .fcmV1, .gcm, .wns, .browser, .mpns, .adm, .baidu, .xiaomi]

    var storedCode: UInt8 { UInt8((Self.storedCodes.firstIndex(of: self) ?? -1) + 1) }

    init(storedCode code: UInt8) throws {
        guard (1...Self.storedCodes.count).contains(Int(code)) else { throw UnreadableValue(reason: "platform \(code) is not known") }
        self = Self.storedCodes[Int(code) - 1]
    }
}

extension OutcomeName {
    /// These never change; a new outcome comes last. The first has code 1.
    private static let storedCodes: [OutcomeName] = [
        .success, .abandoned, .badChannel, .channelDisconnected, .channelThrottled, .dropped, .expiredChannel, .invalidCredentials,
        .invalidNotificationSize, .noTargets, .pnsInterfaceError, .pnsServerError, .pnsUnavailable, .pnsUnreachable, .skipped, .throttled,
        .unknownError, .wrongToken,
    ]

    /// From 1 on.
    var storedCode: UInt8 { UInt8((Self.storedCodes.firstIndex(of: self) ?? -1) + 1) }

    init(storedCode code: UInt8) throws {
        guard (1...Self.storedCodes.count).contains(Int(code)) else { throw UnreadableValue(reason: "outcome \(code) is not known") }
        self = Self.storedCodes[Int(code) - 1]
    }
}
