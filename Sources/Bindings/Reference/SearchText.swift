/// A text as the search compares it: its words in lower case, without endings and without stop words.
///
/// Words end at spaces and punctuation, and where a capital follows a small letter: `BadDeviceToken` has three.
struct SearchText: Sendable {
    /// All words without their endings, in the order of the text.
    let words: [String]
    /// Those that are compared.
    let terms: [String]
    private let distinct: Set<String>

    init(_ text: String) {
        let all = Self.joiningLogin(Self.words(of: text))
        words = all.map(Self.stem)
        terms = all.filter { $0.count > 1 && !Self.ignored.contains($0) }.map(Self.stem)
        distinct = Set(terms)
    }

    /// How well the text has a term: 1 as a word, a half as the beginning of a word, 0 not at all.
    func match(_ term: String) -> Double {
        if distinct.contains(term) { return 1 }
        return term.count >= Self.shortestPrefix && distinct.contains { $0.hasPrefix(term) } ? 0.5 : 0
    }

    /// Whether the terms follow each other in the text.
    func contains(phrase: [String]) -> Bool { terms.indices.contains { terms[$0...].starts(with: phrase) } }

    /// Whether the words, small ones included, follow each other in the text.
    func quotes(_ phrase: [String]) -> Bool { words.indices.contains { words[$0...].starts(with: phrase) } }

    private static let shortestPrefix = 4

    private static let ignored: Set<String> = [
        "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "cannot", "could", "did", "do", "does", "for", "from", "get",
        "gets", "got", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "may", "must", "my", "no", "not", "of",
        "on",
        "one", "or", "out", "should", "so", "such", "than", "that", "the", "then", "there", "this", "three", "to", "two", "was",
        "we", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
    ]

    /// The words with `log in` and `logs a user in` as `login`, which has nothing to do with a log.
    private static func joiningLogin(_ words: [String]) -> [String] {
        words.indices.map { index in
            guard ["log", "logs", "logged"].contains(words[index]) else { return words[index] }
            let next = words[(index + 1)...]
            return next.starts(with: ["in"]) || next.starts(with: ["a", "user", "in"]) ? "login" : words[index]
        }
    }

    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var followsSmallLetter = false
        for character in text {
            if !(character.isLetter || character.isNumber) || followsSmallLetter && character.isUppercase {
                if !word.isEmpty { words.append(word.lowercased()) }
                word = ""
            }
            followsSmallLetter = character.isLowercase
            if character.isLetter || character.isNumber { word.append(character) }
        }
        return word.isEmpty ? words : words + [word.lowercased()]
    }

    /// A word without its ending, so that `expires`, `expired` and `expire` are the same. At least three letters remain.
    static func stem(_ word: String) -> String {
        var stem = word[...]
        func drop(_ ending: String, from length: Int, adding rest: String = "") -> Bool {
            guard stem.count >= length, stem.hasSuffix(ending) else { return false }
            stem = stem.dropLast(ending.count) + rest
            return true
        }
        if drop("ied", from: 6, adding: "y") || drop("ies", from: 6, adding: "y") { return String(stem) }
        let isPlural = !["ss", "us", "is"].contains(where: stem.hasSuffix)
        if isPlural { _ = drop("s", from: 4) }
        if !drop("ing", from: 6), !drop("ed", from: 5) { _ = drop("ion", from: 7) }
        // `logging` is of the log.
        if stem.hasSuffix("gg") { stem = stem.dropLast() }
        _ = drop("e", from: 5)
        return String(stem)
    }
}
