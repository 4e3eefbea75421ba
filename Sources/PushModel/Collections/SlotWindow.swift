import Crypto

/// A sliding window over the slots of a key: which tokens were granted a slot within the period and which were refused. Each decision is
/// forgotten once the period has passed.
package struct SlotWindow: Sendable, Equatable {
    /// Identifies a request. Tokens are compared by 63 bits of their SHA-256.
    package struct Token: Sendable, Equatable {
        /// The lowest bit is 0.
        fileprivate let word: UInt64

        package init(_ text: String) {
            word = SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) } & ~1
        }
    }

    private struct Answer: Sendable, Equatable {
        /// The token's 63 bits; the lowest bit says whether it was granted.
        var word: UInt64
        var time: Timestamp

        var isGranted: Bool { word & 1 == 1 }
    }

    /// Maximum number of refusals recorded.
    package static let maximumRefusals = 100
    /// Packed size of an answer, in bytes.
    private static let answerSize = 16

    /// Oldest first.
    private var answers: [Answer] = []

    package init() {}

    /// The recorded answer for this token; nil if there is none within the period.
    package func answer(to token: Token, within period: Duration, now: Timestamp) -> Bool? {
        answers.last { $0.word & ~1 == token.word && min($0.time, now) + period > now }?.isGranted
    }

    /// Decides about a token without a recorded answer, and records the decision.
    package mutating func decide(_ token: Token, limit: Int, within period: Duration, now: Timestamp) -> Bool {
        // Clamp times in the future, left by a wrong clock: they would hold slots for longer than a period.
        answers = answers.map { Answer(word: $0.word, time: min($0.time, now)) }.filter { $0.time + period > now }
        let isGranted = answers.count(where: \.isGranted) < limit
        if !isGranted, answers.count(where: { !$0.isGranted }) == Self.maximumRefusals,
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

    /// Nil for a number of bytes that is not a multiple of an answer's size.
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
