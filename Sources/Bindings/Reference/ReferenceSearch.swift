/// Finds topics of the reference by words that occur in them, best first.
///
/// A topic is found if it has every word of the query, or every word of a query with the same meaning. If no topic has, those with the
/// words that tell most are found. A word counts more in a name than in a summary, more there than in the text, and more the fewer topics
/// have it; words that follow each other as in the query count twice. Topics whose summaries contain the query as a phrase are first.
struct ReferenceSearch: Sendable {
    /// The maximum number of topics found.
    static let limit = 10

    /// A topic with its texts, from the one that counts most.
    private struct Entry: Sendable {
        let topic: ReferenceTopic
        let key: String
        let fields: [(text: SearchText, weight: Double)]

        init(_ topic: ReferenceTopic) {
            self.topic = topic
            key = ReferenceSearch.key(of: topic.name)
            fields = [
                (SearchText(topic.name), 6), (SearchText("\(topic.summary) \(topic.statuses)"), 3), (SearchText(topic.body), 1),
            ]
        }

        /// How much a term counts in the topic; 0 if the topic does not have it.
        func weight(of term: String) -> Double { fields.map { $0.weight * $0.text.match(term) }.max() ?? 0 }

        /// How much a phrase counts in the topic.
        func weight(of phrase: [String]) -> Double { fields.first { $0.text.contains(phrase: phrase) }?.weight ?? 0 }

        /// Whether the summary contains several words as they follow each other in the query, small words included.
        func quotes(_ words: [String]) -> Bool { words.count > 1 && fields[1].text.quotes(words) }
    }

    /// A query, or another one with the same meaning.
    private struct Query {
        /// The terms, each with its information content.
        var terms: [(text: String, information: Double)]
        /// 1, or less for another query with the same meaning.
        var factor: Double

        var information: Double { terms.reduce(0) { $0 + $1.information } }
    }

    private let entries: [Entry]

    init(_ topics: [ReferenceTopic]) { entries = topics.map(Entry.init) }

    /// Up to ten topics. Those whose names are the words of the query, without regard to blanks and punctuation, come first, then those
    /// that ``SearchWords`` names for it.
    func topics(for text: String) -> [ReferenceTopic] {
        let chosen = SearchWords.names(for: text)
        let key = Self.key(of: text)
        let named = entries.map(\.topic).filter { $0.keys.contains(key) }
        let listed = chosen.flatMap { name in entries.filter { $0.topic.name == name }.map(\.topic) }
        var found = named + listed + ranked(text)
        var seen: Set<String> = []
        found = found.filter { seen.insert($0.identity).inserted }
        return Array(found.prefix(Self.limit))
    }

    /// Letters and digits of a name, in lower case: the same for `payload.too_large`, `PayloadTooLarge` and `payload too large`.
    static func key(of name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// Up to ten settings and guides with a word in their names or summaries, those with it in their names first.
    func notes(about word: String) -> [ReferenceTopic] {
        let terms = SearchText(word).terms
        return best { entry in
            guard case .note(let note) = entry.topic, note.kind == .setting || note.kind == .guide, !terms.isEmpty else { return 0 }
            return entry.fields.first { field in field.weight > 1 && terms.allSatisfy { field.text.match($0) == 1 } }?.weight ?? 0
        }
    }

    // MARK: - Ranking

    private func ranked(_ text: String) -> [ReferenceTopic] {
        let queries = queries(for: text)
        let key = Self.key(of: text)
        let words = SearchText(text).words
        let complete = best { entry in
            let sum = (queries.map { score(entry, $0, needing: 1) }.max() ?? 0) + (isPart(key, of: entry) ? Self.partOfName : 0)
            return sum > 0 && entry.quotes(words) ? sum + Self.quoted : sum
        }
        guard complete.isEmpty, text.contains(" ") else { return complete }
        return best { entry in queries.map { score(entry, $0, needing: 0.5) }.max() ?? 0 }
    }

    /// The score of a topic for a query that is a part of its name, such as `no_target`: about that of a rare word of the name.
    private static let partOfName = 30.0

    /// The score of a topic whose summary contains the query as a phrase, such as a message of the program: above that of all others.
    private static let quoted = 1000.0

    private func isPart(_ key: String, of entry: Entry) -> Bool { key.count >= 5 && entry.key.contains(key) }

    private func best(_ score: (Entry) -> Double) -> [ReferenceTopic] {
        entries.enumerated().map { (index: $0.offset, topic: $0.element.topic, score: score($0.element)) }
            .filter { $0.score > 0 }
            .sorted { ($1.score, $0.index) < ($0.score, $1.index) }
            .prefix(Self.limit).map(\.topic)
    }

    /// The score of a topic; 0 if it has less than a share of what the query tells.
    private func score(_ entry: Entry, _ query: Query, needing share: Double) -> Double {
        var sum = 0.0
        var known = 0.0
        for term in query.terms {
            let weight = entry.weight(of: term.text)
            guard weight > 0 else { continue }
            known += term.information
            sum += weight * term.information
        }
        let coverage = query.terms.isEmpty ? 0 : known / query.information
        guard coverage > 0, coverage >= share - 0.001 else { return 0 }
        if query.terms.count > 1, query.factor == 1 { sum += entry.weight(of: query.terms.map(\.text)) * query.information }
        return sum * coverage * coverage * query.factor
    }

    private func queries(for text: String) -> [Query] {
        let terms = SearchText(text).terms
        return [query(terms, 1)] + SearchWords.alternatives(to: terms).map { query($0, 0.5) }
    }

    private func query(_ terms: [String], _ factor: Double) -> Query {
        Query(
            terms: terms.map { term in
                let count = entries.count { $0.weight(of: term) > 0 }
                // Grows with rarity about as a logarithm does.
                return (term, (Double(entries.count) / Double(max(count, 1))).squareRoot().squareRoot())
            }, factor: factor)
    }
}
