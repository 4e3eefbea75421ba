import Lua
import PushModel

/// Tags and tag expressions.
enum TagBindings {
    static let tagUser = Binding(
        "push.tag.user", "Returns the tag that the app backend assigns to a user's devices.",
        takes: .positional([.required("name", .string, "the user's name")]),
        returns: "string", when: .in(.everywhere), errors: ["tag.invalid"],
        example: "push.send { to = push.tag.user \"alice\", alert = \"Hello\" }",
        body: .sync { arguments, _ in try arguments.tag { text throws(TagError) in try Tag.username(text) }.text })

    static let tagDevice = Binding(
        "push.tag.device", "Returns the tag of an installation.",
        takes: .positional([.required("name", .string, "the installation's id")]),
        returns: "string", when: .in(.everywhere), errors: ["tag.invalid"],
        example: "push.send { to = push.tag.device \"f81d4fae\", alert = \"Hello\" }",
        body: .sync { arguments, _ in
            try arguments.tag { text throws(TagError) in try Tag.installation(text) }.text
        })

    static let tagAny = combinator("any", "Builds an expression for devices with at least one of the tags.")
    static let tagAll = combinator("all", "Builds an expression for devices with all of the tags.")
    static let tagNone = combinator("none", "Builds an expression for devices with none of the tags.")

    private static func combinator(_ name: String, _ summary: String) -> Binding {
        Binding(
            "push.tag.\(name)", summary,
            takes: .positional([.required("tags", .list(.tagExpression), "tags or expressions")]),
            returns: "string", when: .in(.everywhere), errors: ["tag_expression.invalid"],
            example: "push.send { to = push.tag.\(name) { \"Sports\", \"Science\" }, alert = \"News\" }",
            body: .sync { arguments, _ in
                let texts = arguments.strings("tags") ?? []
                guard !texts.isEmpty else {
                    throw LuaError.misuse(
                        "args.empty", "push.tag.\(name) got no tags", hint: "give at least one tag, or use push.everyone for all devices")
                }
                return try TagExpression(combining: texts.map { try TagExpression(parsing: $0) }, by: name).description
            })
    }

    static let tagMatch = Binding(
        "push.tag.match", "Whether the expression matches a device with these tags.",
        takes: .positional([
            .required("expression", .tagExpression, "a tag expression"),
            .required("tags", .list(.tag), "the tags of one device"),
        ]),
        returns: "boolean", when: .in(.everywhere), errors: ["tag.invalid", "tag_expression.invalid"],
        example: "assert(push.tag.match(\"Sports && !muted\", { \"Sports\" }))",
        body: .sync { arguments, _ in
            let expression = try TagExpression(parsing: arguments.text("expression"))
            return expression.matches(Set(try arguments.tags("tags")))
        })

    static let tagExplain = Binding(
        "push.tag.explain", "Shows the expression as a tree, one line per part; with tags, also whether each part matches.",
        takes: .positional([
            .required("expression", .tagExpression, "a tag expression"),
            .optional("tags", .list(.tag), "the tags of one device"),
        ]),
        returns: "string", when: .in(.everywhere), errors: ["tag.invalid", "tag_expression.invalid"],
        example: "print(push.tag.explain(\"(Sports || Science) && !muted\", { \"Sports\" }))",
        body: .sync { arguments, _ in
            let expression = try TagExpression(parsing: arguments.text("expression"))
            let tags = arguments.value("tags") == nil ? nil : Set(try arguments.tags("tags"))
            let lines = expression.explain(tags ?? []).map { finding in
                let mark = tags == nil ? "" : finding.holds ? "✓ " : "✗ "
                return String(repeating: "  ", count: finding.depth) + mark + finding.text
            }
            return lines.joined(separator: "\n")
        })
}

extension TagExpression {
    /// Combines terms for `push.tag.any`, `.all` and `.none`. There is at least one term.
    init(combining terms: [TagExpression], by name: String) {
        switch name {
        case "none": self = .not(terms.count == 1 ? terms[0] : .or(terms))
        case _ where terms.count == 1: self = terms[0]
        case "all": self = .and(terms)
        default: self = .or(terms)
        }
    }
}

extension Arguments {
    fileprivate func tag(_ make: (String) throws(TagError) -> Tag) throws(LuaError) -> Tag {
        do {
            return try make(try text("name"))
        } catch let error as TagError {
            throw LuaError(PushError(error))
        } catch let error as LuaError {
            throw error
        } catch {
            throw .failure("tag.invalid", "\(error)")
        }
    }
}
