import Bindings
import PushRuntime

/// Prints the pages of `pushhost explain`.
struct ExplainReport {
    let registry: BindingRegistry
    let palette: Palette

    private static let width = 100

    /// The pages of an answer, titled by their kinds if there are several, and its list.
    func text(_ answer: ReferenceAnswer) -> [String] {
        let pages = answer.pages.map { page($0, isAlone: answer.pages.count == 1) }
        return Array(pages.joined(separator: [""])) + (answer.list.isEmpty ? [] : list(answer.list, isAlone: pages.isEmpty))
    }

    private func page(_ topic: ReferenceTopic, isAlone: Bool) -> [String] {
        let kind = isAlone ? topic.listedKind.map { "\($0) " } ?? "" : "\(topic.kindName) "
        return switch topic {
        case .binding(let binding): page(binding, kind)
        case .type(let type): page(type, kind)
        case .error(let error): page(error, kind)
        case .note(let note): page(note, kind)
        }
    }

    /// One line per topic, for a name that matches several.
    private func list(_ topics: [ReferenceTopic], isAlone: Bool) -> [String] {
        let rows = topics.map { topic in (topic.name, topic.listedKind.map { "\($0) · " } ?? "", topic.summary) }
        return (isAlone ? [] : heading("SEE ALSO")) + overview(rows) + ["", "For details run pushhost explain NAME."]
    }

    /// One line per topic; error codes by area.
    func index() -> [String] {
        heading("FUNCTIONS") + overview(registry.bindings.map { ($0.name, $0.summary) })
            + heading("TYPES") + overview(registry.types.map { ($0.name, $0.summary) })
            + heading("ERROR CODES") + overview(ErrorCatalogue.areas.map { ("\($0.name).*", $0.summary) })
            + ["", "For details run pushhost explain with a NAME, an AREA such as tag, or a CODE."]
    }

    private func page(_ binding: Binding, _ kind: String) -> [String] {
        var lines = title(kind + binding.signature) + binding.summary.wrapped(to: Self.width)
        if !binding.parameters.isEmpty {
            lines += heading(binding.style == .table ? "KEYS" : "PARAMETERS")
            lines += members(binding.parameters.map { ($0.name, $0.type.phrase, !$0.isRequired, $0.summary) })
        }
        if let returns = binding.returns {
            lines += heading("RETURNS") + ["  \(returns.type)"]
            lines += returns.names.compactMap { registry.type(named: $0) }.map { "  pushhost explain \($0.name)" }
        }
        if !binding.errors.isEmpty {
            let errors = binding.errors.map { ($0, ErrorCatalogue.entry($0)?.summary ?? "") }
            lines += heading("ERRORS") + overview(errors)
        }
        return lines + heading("EXAMPLE") + code(binding.example)
    }

    private func page(_ type: TypeDescription, _ kind: String) -> [String] {
        var lines = title(kind + type.name) + type.summary.wrapped(to: Self.width)
        if !type.fields.isEmpty {
            lines += heading("FIELDS") + members(type.fields.map { ($0.name, $0.type, $0.isOptional, $0.summary) })
        }
        if !type.values.isEmpty { lines += heading("ONE OF") + type.values.map { "  \"\($0)\"" } }
        let methods = registry.methods(of: type)
        if !methods.isEmpty {
            lines += heading("METHODS") + overview(methods.map { ($0.name, $0.summary) })
        }
        let sources = registry.sources(of: type)
        if !sources.isEmpty {
            lines += heading("COMES FROM") + indented(sources.map(\.name).joined(separator: ", "))
        }
        return lines
    }

    private func page(_ error: ErrorDescription, _ kind: String) -> [String] {
        var lines = title(kind + error.code) + error.summary.wrapped(to: Self.width)
        lines += heading("WHEN") + indented(error.occasion) + heading("WHAT TO DO") + indented(error.fix)
        lines += heading("EFFECT") + error.effects.flatMap(indented)
        let bindings = registry.bindings(raising: error.code)
        if !bindings.isEmpty {
            lines += heading("RAISED BY") + indented(bindings.map(\.name).joined(separator: ", "))
        }
        if let example = error.example {
            lines += heading("INSTEAD OF") + code(example.mistake) + heading("WRITE") + code(example.fix)
        }
        return lines
    }

    private func page(_ note: ReferenceNote, _ kind: String) -> [String] {
        title(kind + note.name) + note.summary.wrapped(to: Self.width)
            + note.parts.flatMap { heading($0.title.uppercased()) + indented($0.text) }
    }

    // MARK: - Layout

    /// The title in bold; its continuation lines are indented.
    private func title(_ text: String) -> [String] {
        let lines = text.wrapped(to: Self.width - 4)
        return lines.prefix(1).map(palette.bold) + lines.dropFirst().map { palette.bold("    \($0)") } + [""]
    }

    private func heading(_ text: String) -> [String] { ["", palette.dim("\(text):")] }

    private func code(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  \($0)" }
    }

    private func indented(_ text: String) -> [String] { text.wrapped(to: Self.width - 2).map { "  \($0)" } }

    /// One line per name, with its summary.
    private func overview(_ rows: [(name: String, summary: String)]) -> [String] { overview(rows.map { ($0.name, "", $0.summary) }) }

    /// One line per name, with its kind and its summary.
    private func overview(_ rows: [(name: String, kind: String, summary: String)]) -> [String] {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { "  \($0.name.padded(to: width))  \($0.kind)\($0.summary.firstClause)" }
    }

    /// A name with its type, and its summary on the following lines.
    private func members(_ rows: [(name: String, type: String, isOptional: Bool, summary: String)]) -> [String] {
        let width = rows.map(\.name.count).max() ?? 0
        let margin = String(repeating: " ", count: width + 4)
        return rows.flatMap { row in
            ["  \(row.name.padded(to: width))  \(row.isOptional ? "optional, " : "")\(row.type)"]
                + row.summary.wrapped(to: Self.width - margin.count).map { margin + $0 }
        }
    }
}

extension ReferenceTopic {
    /// The kind in the title of a page.
    fileprivate var kindName: String {
        switch self {
        case .binding: "function"
        case .note(let note) where note.kind == .cause: "trace cause"
        case .type, .error, .note: kind
        }
    }

    /// The kind of a cause and of a setting, whose names alone do not show it.
    fileprivate var listedKind: String? {
        guard case .note(let note) = self, note.kind == .cause || note.kind == .setting else { return nil }
        return kindName
    }
}

extension String {
    /// The text before the first full stop, colon or semicolon that is not in brackets.
    fileprivate var firstClause: String {
        var depth = 0
        var clause = ""
        for (character, next) in zip(self, Array(dropFirst()) + [" "]) {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth <= 0, next == " ", [".", ":", ";"].contains(character) { break }
            clause.append(character)
        }
        return clause
    }

    /// Wraps the text at blanks to lines of at most `width` characters.
    fileprivate func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            if !line.isEmpty, line.count + word.count + 1 > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? word : " \(word)"
        }
        return lines + (line.isEmpty ? [] : [line])
    }
}
