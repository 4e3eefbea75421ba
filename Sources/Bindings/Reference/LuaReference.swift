/// Generates docs/reference/lua.md: every function of the `push` module, and every type that they return.
package struct LuaReference {
    private let registry: BindingRegistry

    package init(_ registry: BindingRegistry) { self.registry = registry }

    package var text: String {
        var lines = [
            "# The push module", "",
            "Generated from the descriptions in the program by `make docs`. `pushhost explain NAME` shows the same in a terminal. "
                + "See also the [guide](../how-to/flows.md) and the [error codes](errors.md).",
            "",
            "`{ … }` after a name means one table with named keys; keys in brackets are optional. If exactly one key is required, "
                + "its value may be passed without a table: `push.device \"ana\"`.", "",
        ]
        for group in groups {
            let links = group.bindings.map { "[`\($0.name)`](#\(Self.anchor($0)))" }
            lines.append("- **\(group.title)**: \(links.joined(separator: ", "))")
        }
        let types = registry.types.map { "[`\($0.name)`](#\(Self.anchor($0)))" }
        lines += ["- **Types**: \(types.joined(separator: ", "))", ""]
        for group in groups { lines += ["## \(group.title)", ""] + group.bindings.flatMap(section) }
        lines += ["## Types", ""] + registry.types.flatMap(section)
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    /// Functions by namespace or handle, in the order of the registry.
    private var groups: [(title: String, bindings: [Binding])] {
        var groups: [(title: String, bindings: [Binding])] = []
        for binding in registry.bindings {
            let title = binding.receiver.map { "Methods of a \($0)" } ?? binding.space ?? "push"
            if let index = groups.firstIndex(where: { $0.title == title }) {
                groups[index].bindings.append(binding)
            } else {
                groups.append((title, [binding]))
            }
        }
        return groups
    }

    private func section(_ binding: Binding) -> [String] {
        var lines = ["### <a id=\"\(Self.anchor(binding))\"></a>\(binding.name)", "", binding.summary.markdown, ""]
        let returns = binding.returns.map { " → \(linked($0.type))" } ?? ""
        lines += ["`\(binding.signature)`\(returns)", ""]
        if !binding.parameters.isEmpty {
            lines += ["| \(binding.style == .table ? "key" : "parameter") | type | meaning |", "|---|---|---|"]
            for parameter in binding.parameters {
                let name = parameter.isRequired ? "**`\(parameter.name)`**" : "`\(parameter.name)`"
                lines.append("| \(name) | \(parameter.type.phrase.markdown) | \(parameter.summary.markdown) |")
            }
            lines.append("")
        }
        lines += ["```lua", binding.example, "```", ""]
        if !binding.errors.isEmpty {
            let links = binding.errors.map { "[`\($0)`](errors.md#\(ErrorReference.anchor($0)))" }
            lines += ["Errors: \(links.joined(separator: ", "))", ""]
        }
        return lines
    }

    private func section(_ type: TypeDescription) -> [String] {
        var lines = ["### <a id=\"\(Self.anchor(type))\"></a>\(type.name)", "", type.summary.markdown, ""]
        if !type.fields.isEmpty {
            lines += ["| field | type | meaning |", "|---|---|---|"]
            for field in type.fields {
                lines.append("| `\(field.name)`\(field.isOptional ? "?" : "") | \(linked(field.type)) | \(field.summary.markdown) |")
            }
            lines.append("")
        }
        if !type.values.isEmpty { lines += [type.values.map { "`\"\($0)\"`" }.joined(separator: ", "), ""] }
        if !registry.methods(of: type).isEmpty {
            let links = registry.methods(of: type).map { "[`\($0.name)`](#\(Self.anchor($0)))" }
            lines += ["Methods: \(links.joined(separator: ", "))", ""]
        }
        return lines
    }

    /// The anchor of a function: `push.tag.user` is `push-tag-user`. Types have a prefix, because anchors ignore case.
    static func anchor(_ binding: Binding) -> String { binding.name.replacing(".", with: "-").replacing(":", with: "-") }

    static func anchor(_ type: TypeDescription) -> String { "type-\(type.shortName.lowercased())" }

    /// A type in code style, with a link if it mentions exactly one type of the module.
    private func linked(_ text: String) -> String {
        let code = "`\(text.replacing("|", with: "\\|"))`"
        let names = Binding.Returns(type: text, summary: "").names.compactMap { registry.type(named: $0) }
        guard let name = names.first, names.count == 1 else { return code }
        return "[\(code)](#\(Self.anchor(name)))"
    }
}

extension String {
    /// The text with Markdown characters escaped, also for table cells.
    var markdown: String {
        ["\\", "|", "*", "`"].reduce(self) { $0.replacing($1, with: "\\\($1)") }.replacing("<", with: "&lt;")
    }
}
