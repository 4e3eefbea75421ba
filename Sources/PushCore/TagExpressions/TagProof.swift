/// Whether two tag expressions name the same registrations, whatever these may be; else the smallest registration that tells them
/// apart.
///
/// Both are written as decision diagrams over their tags. The difference is empty where they mean the same; else the way through it
/// that takes the fewest tags is the example. Only registrations that can be are looked at: with at most one tag
/// `$InstallationId:{…}` and one `$UserId:{…}`.
package enum TagProof: Sendable, Equatable {
    /// No registration that can be tells them apart.
    case equal
    case different(Example)

    /// A registration with as few tags as any on which the two differ.
    package struct Example: Sendable, Equatable {
        /// In the order in which the expressions mention them; it may have none at all.
        package let tags: [Tag]
        /// Which of the two takes it.
        package let isFirst: Bool

        package init(tags: [Tag], isFirst: Bool) {
            self.tags = tags
            self.isFirst = isFirst
        }
    }

    /// Most different tags of both expressions together.
    package static let mostTags = 2_000
    /// Most steps of a comparison, which bounds the nodes of its diagrams too.
    package static let mostSteps = 400_000

    /// Throws `tags.too_complex` (422) beyond a limit.
    package init(
        of first: TagExpression, and second: TagExpression, mostTags: Int = Self.mostTags, mostSteps: Int = Self.mostSteps
    ) throws(PushError) {
        let tags = (first.operands + second.operands).uniqued()
        guard tags.count <= mostTags else {
            throw Self.tooComplex("the expressions have \(tags.count) different tags, more than \(mostTags)", limit: mostTags)
        }
        var diagram = TagDiagram(tags, mostSteps: mostSteps)
        let difference: TagDiagram.Node
        do throws(TagDiagram.Exhausted) {
            difference = try diagram.difference(try diagram.node(of: first), try diagram.node(of: second))
        } catch {
            throw Self.tooComplex("comparing the expressions takes more than \(mostSteps) steps", limit: mostSteps)
        }
        guard let example = diagram.smallestSet(in: difference), example.count <= [Tag].maximumCount else {
            self = .equal
            return
        }
        self = .different(Example(tags: example, isFirst: first.matches(Set(example))))
    }

    private static func tooComplex(_ message: String, limit: Int) -> PushError {
        PushError(
            "tags.too_complex", message, hint: "compare their parts one by one, or name the tags that belong together next to each other",
            status: 422, details: ["limit": .integer(Int64(limit))])
    }
}
