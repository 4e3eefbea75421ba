import PushModel

/// All error and warning codes of the program, with a page for each. A test compares them with the sources.
package enum ErrorCatalogue {
    /// Areas in the order of the reference.
    package static let areas: [ErrorArea] =
        ScriptErrors.all + FlowErrors.all + ProgramErrors.all + SessionErrors.all + BackendErrors.all + HubErrors.all + WireErrors.all
        + ContentErrors.all + ServerErrors.all + AuditErrors.all + PluginErrors.all

    package static let all: [ErrorDescription] = areas.flatMap(\.entries)

    private static let byCode = Dictionary(all.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    package static func entry(_ code: String) -> ErrorDescription? { byCode[code] }
}

/// A group of codes with a common prefix.
package struct ErrorArea: Sendable {
    /// The prefix: `args` for `args.unknown_key`.
    package var name: String
    /// The subject of the area.
    package var summary: String
    package var entries: [ErrorDescription]

    init(_ name: String, _ summary: String, _ entries: [ErrorDescription]) {
        self.name = name
        self.summary = summary
        self.entries = entries
    }
}
