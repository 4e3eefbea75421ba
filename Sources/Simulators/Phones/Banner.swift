/// What a push puts before the user.
struct Banner: Sendable, Equatable {
    var title = ""
    var subtitle = ""
    var body = ""
    var sound: String?
    var category: String?
    var image: String?
    /// A later banner with the same key takes this one's place.
    var replacementKey: String?

    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }

    /// One line per part, without the empty ones.
    var text: String { [title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n") }
}
