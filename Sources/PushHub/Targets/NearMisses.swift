import PushModel

/// Explains why a send found no device: similar tags, and registrations of the other kind.
struct NearMisses {
    let sentences: [String]

    /// - Parameter names: the tags to search for similar ones.
    init(in directory: RegistrationDirectory, request: NotificationRequest, names: [Tag]) {
        guard directory.table.count > 0 else {
            sentences = ["the hub has no registrations yet"]
            return
        }
        var expression: TagExpression?
        switch request.audience {
        case .device, .devices:
            sentences = []
            return
        case .everyone: break
        case .expression(let given): expression = given
        }
        var sentences: [String] = []
        let matched = directory.table.select(expression)
        if !matched.isEmpty { sentences.append(Self.otherKind(matched, in: directory.table.columns, request.content)) }
        let index = directory.table.index
        // Only the first tags of a long expression: each is compared with all tags of the hub.
        let wanted = Array((expression.map { Self.wanted($0) } ?? []).prefix(8))
        for tag in wanted where index.count(of: tag) == 0 {
            if let near = nearest(tag.text, in: names.lazy.map(\.text)), let other = Tag(validating: near) {
                sentences.append("\"\(near)\" has \(Self.registrations(index.count(of: other)))")
            } else {
                sentences.append("no registration has the tag \"\(tag.text)\"")
            }
        }
        if sentences.isEmpty, !wanted.isEmpty {
            let counts = wanted.map { "\"\($0)\" has \(Self.registrations(index.count(of: $0)))" }
            sentences.append("\(counts.joined(separator: ", ")), but none satisfies the whole expression")
        }
        self.sentences = sentences
    }

    /// The tags that a device must have, each once. Negated tags are left out, because a device need not have them.
    private static func wanted(_ expression: TagExpression) -> [Tag] {
        func collect(_ expression: TagExpression, isNegated: Bool) -> [Tag] {
            switch expression {
            case .tag(let tag): isNegated ? [] : [tag]
            case .not(let inner): collect(inner, isNegated: !isNegated)
            case .and(let terms), .or(let terms): terms.flatMap { collect($0, isNegated: isNegated) }
            }
        }
        return collect(expression, isNegated: false).uniqued()
    }

    private static func otherKind(_ matched: [UInt32], in columns: RegistrationColumns, _ content: NotificationContent) -> String {
        switch content {
        case .template:
            return "\(matches(matched.count, "native registration")); properties reach template registrations only"
        case .native(let payloads):
            let natives = matched.filter { columns.templates[$0] == TemplateRegister.none }
            guard !natives.isEmpty else {
                return "\(matches(matched.count, "template registration")); native payloads do not reach templates, properties do"
            }
            let platforms = Set(natives.map { columns.traits[$0].platform })
            let missing = platforms.subtracting(payloads.keys).sorted().map(\.displayName)
            return
                "\(matches(natives.count, "registration")), on \(missing.joined(separator: ", ")), "
                + "for which there is no payload"
        }
    }

    private static func registrations(_ count: Int) -> String { "\(count) registration\(count == 1 ? "" : "s")" }

    private static func matches(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? " matches" : "s match")"
    }
}
