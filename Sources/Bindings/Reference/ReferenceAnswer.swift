/// What the reference shows for a name or for words; nothing if it has no topic for them.
package struct ReferenceAnswer: Sendable {
    /// The topics to show in full.
    package var pages: [ReferenceTopic] = []
    /// Topics to list, after the pages if there are any.
    package var list: [ReferenceTopic] = []

    package var isEmpty: Bool { pages.isEmpty && list.isEmpty }
}
