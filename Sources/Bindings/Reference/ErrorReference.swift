/// Generates docs/reference/errors.md: every error and warning code.
package struct ErrorReference {
    private let registry: BindingRegistry

    package init(_ registry: BindingRegistry) { self.registry = registry }

    package var text: String {
        var lines = [
            "# Error codes", "",
            "Generated from the descriptions in the program by `make docs`. `pushhost explain CODE` shows the same in a terminal. "
                + "Codes are stable, so scripts can compare `err.code` with them.", "",
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
            "**What to do.** \(error.cure.markdown)", "", "**The run.** \(error.consequences.joined(separator: " "))", "",
        ]
        let bindings = registry.bindings(raising: error.code)
        if !bindings.isEmpty {
            let links = bindings.map { "[`\($0.name)`](lua.md#\(LuaReference.anchor($0)))" }
            lines += ["**Raised by** \(links.joined(separator: ", ")).", ""]
        }
        if let example = error.example {
            lines += ["Instead of", "```\(example.language.rawValue)", example.mistake, "```"]
            lines += ["write", "```\(example.language.rawValue)", example.cure, "```", ""]
        }
        return lines
    }

    static func anchor(_ code: String) -> String { code.replacing(".", with: "-") }
}
