/// The visible content of a push.
struct Banner: Sendable, Equatable {
    var title = ""
    var subtitle = ""
    var body = ""
    var sound: String?
    var category: String?
    var image: String?
    /// A later banner with the same key replaces this one.
    var replacementKey: String?

    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }

    /// The parts that are not empty, one per line.
    var text: String { [title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n") }
}
