package import Bindings
package import Lua
import PushLab
package import PushModel

/// The state of one listed plugin.
package struct PluginReport: Sendable {
    var entry: PluginList.Entry
    /// Nil if no version is live.
    package var status: PluginStatus?
    package var refusal: LuaError?
    /// Hash of the refused version; nil if its files could not be read.
    package var refusedHash: String?
    /// The version whose specs are running.
    package var trying: String?
    /// Whether a change of its entry or files has not been applied yet.
    var isPending = false
    /// Hook phases that reject everything while no version is live, because the plugin declares them `fail_closed`.
    package var withheld: [HookPhase] = []
    var versions: [PluginVersions.Version]
    /// The version that was live most recently.
    package var last: PluginVersions.Version?

    package init(_ entry: PluginList.Entry, versions: [PluginVersions.Version]) {
        self.entry = entry
        self.versions = versions
    }
}

extension PluginSupervisor {
    /// The body of `GET /api/v1/plugins`.
    var json: JSON {
        .object([
            "plugins": .array(report.map(\.json)), "list": listFailure.map { .string($0.message) } ?? .null,
            "folder": .string(folder.resolvedPath), "revision": .string(revision),
        ])
    }
}

extension PluginReport {
    /// One element of `plugins` in that body, which `pushhost plugin list` reads from a running server.
    package var json: JSON {
        var object = JSONObject([
            ("name", .string(entry.name)), ("enabled", .bool(entry.isEnabled)),
            ("grants", .array(entry.grants.map { .string($0.description) })), ("pinned", entry.pin.map(JSON.string) ?? .null),
        ])
        if let status {
            object["live"] = status.json
        }
        if let refusal {
            object["refused"] = .object(
                JSONObject([
                    ("version", refusedHash.map { .string(String($0.prefix(PluginSource.shownDigits))) } ?? .null),
                    ("code", .string(refusal.code)), ("message", .string(refusal.message)),
                    ("hint", refusal.hint.map(JSON.string) ?? .null),
                    ("at", refusal.location.map { .string("\($0)") } ?? .null),
                ]))
        }
        object["pending"] = .bool(isPending)
        if let trying { object["trying"] = .string(trying) }
        if !withheld.isEmpty { object["withheld"] = .array(withheld.map { .string($0.rawValue) }) }
        object["versions"] = .array(
            versions.map { .object(JSONObject([("version", .string($0.shown)), ("live", .string($0.live.description))])) })
        object["last"] = last.map { .string($0.shown) } ?? .null
        return .object(object)
    }
}

extension PluginStatus {
    fileprivate var json: JSON {
        var object = JSONObject([
            ("version", .string(plugin.source.version)), ("release", .string(plugin.release)),
            ("hooks", .array(plugin.hooks.map { .string($0.rawValue) })), ("routes", .array(plugin.routes.map(JSON.string))),
            ("flows", .array(plugin.flows.keys.sorted().map(JSON.string))), ("timers", .array(plugin.timers.map(JSON.string))),
            ("missing", .array(plugin.grants.missing.map { .string($0.description) })),
            ("calls", .integer(Int64(calls))), ("failures", .integer(Int64(failures))), ("dropped", .integer(Int64(dropped))),
            (
                "open",
                .array(
                    open.map { open in
                        .object(
                            JSONObject([
                                ("hook", .string(open.hook.rawValue)), ("until", .string(open.until.description)),
                                ("due", .bool(open.isDue)),
                            ]))
                    })
            ),
        ])
        if let lastError {
            object["lastError"] = .string("\(lastError)")
        }
        return .object(object)
    }
}

extension Set<HookPhase> {
    var inOrder: [HookPhase] { HookPhase.allCases.filter(contains) }
    var names: String { inOrder.map(\.rawValue).joined(separator: ", ") }
}
