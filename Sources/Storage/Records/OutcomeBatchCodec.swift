import PushModel

/// Binary encoding of a batch of outcomes: version; texts used by the kinds; kinds; number of devices; in versions 2 and 4, times of the
/// outcomes; rows; checksum of all this in 8 bytes. Integers are encoded as `ByteCursor` numbers; a text is preceded by its length.
///
/// A kind consists of one byte each for the platform, the handles' platform, the outcome and flags (1: has a template name, 2:
/// registrations were removed), then the indices of its template name and reason, the code of its cause, the indices of the cause's texts,
/// and the payload size. In versions 1 and 2, the index of a sentence replaces the cause. A time consists of the distance from the
/// previous time's first device to its own, and the milliseconds since 1970 in 8 bytes. A batch without times has version 3.
enum OutcomeBatchCodec {
    /// Older versions, with sentences instead of causes.
    private static let plainSentences: UInt8 = 1
    private static let timedSentences: UInt8 = 2
    private static let plain: UInt8 = 3
    private static let timed: UInt8 = 4

    /// Never change these codes; append new causes at the end.
    private enum CauseCode {
        static let accepted: UInt8 = 1
        static let duplicate: UInt8 = 2
        static let removedEarly: UInt8 = 3
        static let cancelled: UInt8 = 4
        static let unanswered: UInt8 = 5
        /// Followed by the plugin's name and the reason.
        static let ruled: UInt8 = 6
        /// Followed by the reason.
        static let ruledByHub: UInt8 = 7
        /// Followed by the text.
        static let text: UInt8 = 8
    }

    static func bytes(of batch: OutcomeBatch) -> [UInt8] {
        let (kinds, count) = (batch.kinds, batch.count)
        let resultTimes = batch.resultTimes.filter { $0.first < count }
        var bytes = [resultTimes.isEmpty ? plain : timed]
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
            let (code, causeTexts) = stored(kind.cause)
            described.append(code)
            for text in causeTexts { described.append(number: number(of: text)) }
            described.append(number: UInt64(bitPattern: Int64(kind.size)))
        }
        bytes.append(number: UInt64(texts.count))
        for text in texts { bytes.append(text: text) }
        bytes += described
        bytes.append(number: UInt64(count))
        if !resultTimes.isEmpty { describe(resultTimes, in: &bytes) }
        bytes.reserveCapacity(bytes.count + batch.rows.count + 8)
        bytes += batch.rows
        bytes.append(word: bytes.withUnsafeBytes { sum($0) })
        return bytes
    }

    private static func stored(_ cause: OutcomeCause) -> (code: UInt8, texts: [String]) {
        switch cause {
        case .accepted: (CauseCode.accepted, [])
        case .duplicate: (CauseCode.duplicate, [])
        case .removedEarly: (CauseCode.removedEarly, [])
        case .cancelled: (CauseCode.cancelled, [])
        case .unanswered: (CauseCode.unanswered, [])
        case .ruled(let reason):
            if let plugin = reason.plugin { (CauseCode.ruled, [plugin, reason.reason]) } else { (CauseCode.ruledByHub, [reason.reason]) }
        case .text(let text): (CauseCode.text, [text])
        }
    }

    private static func describe(_ resultTimes: [OutcomeBatch.ResultTime], in bytes: inout [UInt8]) {
        bytes.append(number: UInt64(resultTimes.count))
        var last = 0
        for resultTime in resultTimes {
            bytes.append(number: UInt64(resultTime.first - last))
            bytes.append(word: UInt64(bitPattern: resultTime.time.milliseconds))
            last = resultTime.first
        }
    }

    static func batch(of bytes: [UInt8]) throws -> OutcomeBatch { try bytes.withUnsafeBytes { try read($0) } }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws -> OutcomeBatch {
        let length = bytes.count - 8
        guard length > 0 else { throw UnreadableValue(reason: "\(bytes.count) bytes are not a batch of outcomes") }
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<length])
        guard UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: length, as: UInt64.self)) == sum(content) else {
            throw UnreadableValue(reason: "its checksum does not match")
        }
        var cursor = ByteCursor(content)
        let version = cursor.byte()
        guard (plainSentences...timed).contains(version) else {
            throw UnreadableValue(reason: "unknown batch version \(version)")
        }
        let texts = (0..<cursor.count()).map { _ in cursor.text() }
        let kinds = try (0..<cursor.count()).map { _ in try kind(&cursor, texts, hasSentences: version < plain) }
        let count = Int(clamping: cursor.number())
        let resultTimes = version == timed || version == timedSentences ? resultTimes(&cursor) : []
        guard !cursor.isBeyond,
            let batch = OutcomeBatch(kinds: kinds, rows: Array(content[cursor.offset...]), count: count, resultTimes: resultTimes)
        else {
            throw UnreadableValue(reason: "its \(count) devices are incomplete")
        }
        return batch
    }

    private static func resultTimes(_ cursor: inout ByteCursor) -> [OutcomeBatch.ResultTime] {
        var last = 0
        return (0..<cursor.count()).map { _ in
            last = Int(clamping: UInt64(last) &+ cursor.number())
            return OutcomeBatch.ResultTime(first: last, time: Timestamp(milliseconds: Int64(bitPattern: cursor.word())))
        }
    }

    private static func kind(_ cursor: inout ByteCursor, _ texts: [String], hasSentences: Bool) throws -> OutcomeBatch.Kind {
        func text() throws -> String {
            let number = cursor.number()
            guard number < UInt64(texts.count) else { throw UnreadableValue(reason: "it has no text \(number)") }
            return texts[Int(number)]
        }
        let (platform, handlePlatform) = (try Platform(storedCode: cursor.byte()), try Platform(storedCode: cursor.byte()))
        let outcome = try OutcomeName(storedCode: cursor.byte())
        let marks = cursor.byte()
        let templateName = marks & 1 == 0 ? nil : try text()
        let reason = try text()
        let cause =
            hasSentences
            ? OutcomeCause(sentence: try text(), of: outcome, reason: reason) : try cause(code: cursor.byte(), text)
        return OutcomeBatch.Kind(
            platform: platform, handlePlatform: handlePlatform, templateName: templateName, outcome: outcome, reason: reason, cause: cause,
            size: Int(Int64(bitPattern: cursor.number())), isRegistrationRemoved: marks & 2 != 0)
    }

    /// - Parameter text: reads the next text.
    private static func cause(code: UInt8, _ text: () throws -> String) throws -> OutcomeCause {
        switch code {
        case CauseCode.accepted: .accepted
        case CauseCode.duplicate: .duplicate
        case CauseCode.removedEarly: .removedEarly
        case CauseCode.cancelled: .cancelled
        case CauseCode.unanswered: .unanswered
        case CauseCode.ruled: .ruled(HookReason(plugin: try text(), reason: try text()))
        case CauseCode.ruledByHub: .ruled(HookReason(plugin: nil, reason: try text()))
        case CauseCode.text: .text(try text())
        default: throw UnreadableValue(reason: "unknown cause \(code)")
        }
    }

    /// Detects damage, not tampering. Every step is invertible, so any change within one 8-byte word is detected.
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
