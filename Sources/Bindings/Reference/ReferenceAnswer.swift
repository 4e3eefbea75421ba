/// The topics that the reference shows for a name or for words; none if it has nothing for them.
package struct ReferenceAnswer: Sendable {
    /// The topics to show in full.
    package var pages: [ReferenceTopic] = []
    /// Topics to list, after the pages if there are any.
    package var list: [ReferenceTopic] = []

    package var isEmpty: Bool { pages.isEmpty && list.isEmpty }
}
