/// Decides whether two tag expressions select the same registrations; if not, gives a smallest registration that only one of them selects.
///
/// Converts both to decision diagrams over their tags. If their difference is empty, they are equal; otherwise the path to it with the
/// fewest tags is the example. Only possible registrations are considered: those with at most one tag `$InstallationId:{…}` and one
/// `$UserId:{…}`.
package enum TagProof: Sendable, Equatable {
    /// Both select the same of all possible registrations.
    case equal
    case different(Example)

    /// A smallest registration that only one of the expressions selects.
    package struct Example: Sendable, Equatable {
        /// In the order in which the expressions mention them; may be empty.
        package let tags: [Tag]
        /// Whether the first expression selects it.
        package let isFirst: Bool

        package init(tags: [Tag], isFirst: Bool) {
            self.tags = tags
            self.isFirst = isFirst
        }
    }

    /// Maximum number of distinct tags in both expressions.
    package static let mostTags = 2_000
    /// Maximum number of steps of a comparison, which also limits the size of the diagrams.
    package static let maximumSteps = 400_000

    /// Throws `tags.too_complex` (422) if a limit is exceeded.
    package init(
        of first: TagExpression, and second: TagExpression, mostTags: Int = Self.mostTags, maximumSteps: Int = Self.maximumSteps
    ) throws(PushError) {
        let tags = (first.operands + second.operands).uniqued()
        guard tags.count <= mostTags else {
            throw Self.tooComplex("the expressions have \(tags.count) different tags, more than \(mostTags)", limit: mostTags)
        }
        var diagram = TagDiagram(tags, maximumSteps: maximumSteps)
        let difference: TagDiagram.Node
        do throws(TagDiagram.Exhausted) {
            difference = try diagram.difference(try diagram.node(of: first), try diagram.node(of: second))
        } catch {
            throw Self.tooComplex("comparing the expressions takes more than \(maximumSteps) steps", limit: maximumSteps)
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
