import Crypto

/// Who has taken the slots of a key within its period, and who was refused: a sliding window. Each is remembered until the period has
/// passed since.
package struct SlotWindow: Sendable, Equatable {
    /// Who asks. Tokens are told apart by 63 bits of their SHA-256.
    package struct Token: Sendable, Equatable {
        /// The lowest bit is 0.
        fileprivate let word: UInt64

        package init(_ text: String) {
            word = SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) } & ~1
        }
    }

    private struct Answer: Sendable, Equatable {
        /// The token's, and in the lowest bit whether it was granted.
        var word: UInt64
        var time: Timestamp

        var isGranted: Bool { word & 1 == 1 }
    }

    /// Of refusals no more are remembered.
    package static let mostRefusals = 100
    /// Of an answer, in bytes.
    private static let answerSize = 16

    /// Oldest first.
    private var answers: [Answer] = []

    package init() {}

    /// What was answered when the same was asked before; nil where it was not.
    package func answer(to token: Token, within period: Duration, now: Timestamp) -> Bool? {
        answers.last { $0.word & ~1 == token.word && min($0.time, now) + period > now }?.isGranted
    }

    /// Answers what was not asked before.
    package mutating func decide(_ token: Token, limit: Int, within period: Duration, now: Timestamp) -> Bool {
        // Of a clock that was wrong, moments to come would hold slots longer than a period.
        answers = answers.map { Answer(word: $0.word, time: min($0.time, now)) }.filter { $0.time + period > now }
        let isGranted = answers.count(where: \.isGranted) < limit
        if !isGranted, answers.count(where: { !$0.isGranted }) == Self.mostRefusals,
            let oldest = answers.firstIndex(where: { !$0.isGranted })
        {
            answers.remove(at: oldest)
        }
        answers.append(Answer(word: token.word | (isGranted ? 1 : 0), time: now))
        return isGranted
    }

    // MARK: - Bytes

    package var packed: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(answers.count * Self.answerSize)
        for answer in answers {
            bytes.append(word: answer.word)
            bytes.append(word: UInt64(bitPattern: answer.time.milliseconds))
        }
        return bytes
    }

    /// Nil for bytes that are none.
    package init?(packed bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: Self.answerSize) else { return nil }
        answers = bytes.withUnsafeBytes { bytes in
            var cursor = ByteCursor(bytes)
            return (0..<bytes.count / Self.answerSize).map { _ in
                Answer(word: cursor.word(), time: Timestamp(milliseconds: Int64(bitPattern: cursor.word())))
            }
        }
    }
}
