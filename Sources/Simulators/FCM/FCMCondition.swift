/// A condition with at most five topics, such as `'TopicA' in topics && ('TopicB' in topics || !('TopicC' in topics))` (Google, "Send
/// messages to topics").
indirect enum FCMCondition: Sendable {
    case member(String)
    case not(FCMCondition)
    case all(FCMCondition, FCMCondition)
    case any(FCMCondition, FCMCondition)

    init?(_ text: String) {
        var reader = Reader(text: text[...])
        guard let condition = reader.any(), reader.isAtEnd, reader.topicCount <= 5 else { return nil }
        self = condition
    }

    /// Whether an app with these subscriptions matches.
    func matches(_ topics: Set<String>) -> Bool {
        switch self {
        case .member(let topic): topics.contains(topic)
        case .not(let condition): !condition.matches(topics)
        case .all(let left, let right): left.matches(topics) && right.matches(topics)
        case .any(let left, let right): left.matches(topics) || right.matches(topics)
        }
    }

    private struct Reader {
        var text: Substring
        var topicCount = 0
        var depth = 0

        var isAtEnd: Bool { text.allSatisfy { $0 == " " } }

        mutating func take(_ word: String) -> Bool {
            text = text.drop { $0 == " " }
            guard text.hasPrefix(word) else { return false }
            text = text.dropFirst(word.count)
            return true
        }

        mutating func any() -> FCMCondition? {
            guard var left = all() else { return nil }
            while take("||") {
                guard let right = all() else { return nil }
                left = .any(left, right)
            }
            return left
        }

        mutating func all() -> FCMCondition? {
            guard var left = term() else { return nil }
            while take("&&") {
                guard let right = term() else { return nil }
                left = .all(left, right)
            }
            return left
        }

        mutating func term() -> FCMCondition? {
            depth += 1
            defer { depth -= 1 }
            guard depth < 32 else { return nil }
            if take("!") { return term().map { .not($0) } }
            if take("(") {
                guard let inner = any(), take(")") else { return nil }
                return inner
            }
            guard take("'"), let end = text.firstIndex(of: "'") else { return nil }
            let topic = String(text[..<end])
            text = text[end...].dropFirst()
            guard FCMTarget.isTopic(topic), take("in"), take("topics") else { return nil }
            topicCount += 1
            return .member(topic)
        }
    }
}
