/// Generates docs/reference/errors.md: every error and warning code.
package struct ErrorReference {
    private let registry: BindingRegistry

    package init(_ registry: BindingRegistry) { self.registry = registry }

    package var text: String {
        var lines = [
            "# Error codes", "",
            "Generated from the descriptions in the program by `make docs`. `pushhost explain CODE` shows the same in a terminal, "
                + "and `pushhost explain WORDS` searches it. Codes are stable, so scripts can compare `err.code` with them.", "",
            "**Effect** says what follows at each place where the error can occur. An HTTP error response of the JSON API has the code, "
                + "the message and a hint; one of the Azure-compatible API has only the status and the message. All exit codes are listed "
                + "in [exit codes](exit-codes.md).", "",
            "| area | subject |", "|---|---|",
        ]
        for area in ErrorCatalogue.areas { lines.append("| [`\(area.name)`](#area-\(area.name)) | \(area.summary) |") }
        lines.append("")
        for area in ErrorCatalogue.areas {
            lines += ["## <a id=\"area-\(area.name)\"></a>\(area.name): \(area.summary)", ""] + area.entries.flatMap(section)
        }
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    private func section(_ error: ErrorDescription) -> [String] {
        var lines = [
            "### <a id=\"\(Self.anchor(error.code))\"></a>\(error.code)", "", error.summary.markdown, "",
            "**When.** \(error.occasion.markdown)",
            "",
            "**What to do.** \(error.fix.markdown)", "",
        ]
        let effects = error.effects.map(\.markdown)
        lines += effects.count == 1 ? ["**Effect.** \(effects[0])", ""] : ["**Effect.**"] + effects.map { "- \($0)" } + [""]
        let bindings = registry.bindings(raising: error.code)
        if !bindings.isEmpty {
            let links = bindings.map { "[`\($0.name)`](lua.md#\(LuaReference.anchor($0)))" }
            lines += ["**Raised by** \(links.joined(separator: ", ")).", ""]
        }
        if let example = error.example {
            lines += ["Instead of", "```\(example.language.rawValue)", example.mistake, "```"]
            lines += ["write", "```\(example.language.rawValue)", example.fix, "```", ""]
        }
        return lines
    }

    static func anchor(_ code: String) -> String { code.replacing(".", with: "-") }
}
