/// The visible content of a push.
package struct Banner: Sendable, Equatable {
    package var title = ""
    package var subtitle = ""
    package var body = ""
    package var sound: String?
    /// `aps.category`, or the click action of an Android notification.
    package var category: String?
    package var image: String?
    /// Collapse id or tag: a later banner with the same key replaces this one.
    package var replacementKey: String?

    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }

    /// The parts that are not empty, one per line.
    var text: String { [title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n") }
}
