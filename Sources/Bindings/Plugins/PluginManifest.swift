import Lua
import PushModel

/// The manifest of a plugin, which its `init.lua` returns: identity, needs, and hooks.
struct PluginManifest: Sendable {
    var name: String
    var version: String
    var summary: String
    var needs: [PluginNeed]
    var config: ConfigSchema
    var hooks: [HookPhase: Hook]
    var routes: [Route]
    var timers: [Timer]
    /// Names of flows and their files in the plugin.
    var flows: [String: String]

    /// The phases in which it has a `fail_closed` hook.
    var failClosedPhases: Set<HookPhase> { Set(hooks.filter { $0.value.policy == .closed }.keys) }

    /// A function with its limits.
    struct Work: Sendable {
        var function: LuaFunctionReference
        /// CPU time limit of a call.
        var cpu: Duration
        /// Total time limit of a call including waiting, on the clock of the hub.
        var timeout: Duration
    }

    struct Hook: Sendable {
        /// The effect of a hook's failure on the operation.
        enum Policy: String, Sendable, CaseIterable {
            /// The operation continues as if there were no hook.
            case open = "fail_open"
            /// The operation is rejected.
            case closed = "fail_closed"
        }

        var work: Work
        var policy: Policy
    }

    struct Route: Sendable {
        var method: String
        var path: PathPattern
        /// Schema of the path and query parameters.
        var parameters: ConfigSchema
        var authentication: RouteAuthentication
        /// Maximum bytes of a request body.
        var bodyLimit: Int
        var work: Work
    }

    struct Timer: Sendable {
        var schedule: CronSchedule
        /// IANA time zone name.
        var timeZone: String
        var work: Work
    }
}

// MARK: - Reading

extension PluginManifest {
    private static let keys = ["name", "version", "desc", "needs", "config", "hooks", "routes", "every", "flows"]
    private static let workKeys = ["run", "cpu", "timeout"]

    /// - Parameters:
    ///   - values: The values that the file returned.
    ///   - folder: The folder's name, which must be the plugin's name.
    ///   - file: The path, for errors.
    ///   - files: Names of the plugin's files.
    /// - Throws: `plugin.manifest`.
    init(_ values: [LuaValue], folder: String, file: String, files: Set<String>) throws(LuaError) {
        guard values.count == 1 else {
            throw ManifestTable.refusal(
                file, "", values.isEmpty ? "is missing; it must be one table" : "has \(values.count) values; it must be one table",
                hint: "end the file with return { name = \"\(folder)\", version = \"1.0\", … }")
        }
        let table = try ManifestTable(values[0], file: file, path: "", keys: Self.keys)
        name = try table.requiredText("name", "the plugin's name", hint: "write name = \"\(folder)\"")
        guard name == folder else {
            throw table.refusal("name", "is \"\(name)\", but the folder is called \(folder)", hint: "use the same name for both")
        }
        version = try table.requiredText("version", "a string", hint: "write version = \"1.0\"")
        guard version.utf8.count <= 40, version.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }) else {
            throw table.refusal("version", "must be at most 40 bytes without spaces")
        }
        summary = try table.text("desc") ?? ""
        needs = []
        config = ConfigSchema()
        if let fields = try table.table("config", keys: nil) { config = try ConfigSchema(fields) }
        for (index, text) in try table.texts("needs").enumerated() {
            do throws(Capability.Unreadable) {
                needs.append(try PluginNeed(parsing: text, config))
            } catch {
                throw table.refusal(
                    "needs[\(index + 1)]", "is invalid: \(error.reason)",
                    hint: "capabilities are \(Capability.forms.joined(separator: ", ")), http:{SETTING}")
            }
        }
        hooks = try Self.hooks(table)
        routes = try Self.routes(table)
        timers = try Self.timers(table)
        flows = try Self.flows(table, files)
    }

    private static func hooks(_ table: ManifestTable) throws(LuaError) -> [HookPhase: Hook] {
        guard let declared = try table.table("hooks", keys: HookPhase.allCases.map(\.rawValue)) else { return [:] }
        var hooks: [HookPhase: Hook] = [:]
        for phase in HookPhase.allCases {
            guard let value = declared.fields[phase.rawValue] else { continue }
            if case .function(let function) = value, !phase.isDeciding {
                hooks[phase] = Hook(work: Work(function: function, cpu: Work.hookCPU, timeout: Work.observerTimeout), policy: .open)
                continue
            }
            if case .function = value {
                throw declared.refusal(
                    phase.rawValue, "must be a table with on_failure, got a function",
                    hint: "write \(phase.rawValue) = { on_failure = \"fail_open\", run = function(…) … end }, or \"fail_closed\"")
            }
            guard let hook = try declared.table(phase.rawValue, keys: workKeys + (phase.isDeciding ? ["on_failure"] : [])) else { continue }
            let policy = try hook.choice("on_failure", of: Hook.Policy.self)
            guard policy != nil || !phase.isDeciding else {
                throw hook.refusal(
                    "on_failure", "is missing: it determines what happens when the hook fails",
                    hint: "\"fail_open\" continues without the hook, \"fail_closed\" rejects the operation")
            }
            hooks[phase] = Hook(
                work: try Work(
                    hook, cpu: Work.hookCPU, timeout: phase.isDeciding ? Work.hookTimeout : Work.observerTimeout,
                    longest: phase.isDeciding ? .seconds(10) : .seconds(300)),
                policy: policy ?? .open)
        }
        return hooks
    }

    private static func timers(_ table: ManifestTable) throws(LuaError) -> [Timer] {
        var timers: [Timer] = []
        for (index, value) in try table.list("every", of: "timers").enumerated() {
            let path = "every[\(index + 1)]"
            let timer = try ManifestTable(value, file: table.file, path: path, keys: ["cron", "time_zone"] + workKeys)
            let text = try timer.requiredText("cron", "a time in five fields", hint: "write cron = \"0 7 * * 1-5\"")
            let schedule: CronSchedule
            do throws(PushError) { schedule = try CronSchedule(text) } catch {
                throw timer.refusal("cron", "is invalid: \(error.message)", hint: error.hint)
            }
            timers.append(
                Timer(
                    schedule: schedule, timeZone: try timer.text("time_zone") ?? "UTC",
                    work: try Work(timer, cpu: .seconds(10), timeout: .seconds(300), longest: .seconds(3600))))
        }
        return timers
    }

    private static func flows(_ table: ManifestTable, _ files: Set<String>) throws(LuaError) -> [String: String] {
        guard let declared = try table.table("flows", keys: nil) else { return [:] }
        var flows: [String: String] = [:]
        for name in declared.fields.keys.sorted() {
            guard name.utf8.allSatisfy({ $0.isPropertyCharacter || $0 == UInt8(ascii: "-") }) else {
                throw declared.refusal(name, "is not a valid flow name", hint: "use letters, digits, _ and -")
            }
            let file = try declared.requiredText(name, "the name of a file of the plugin")
            guard files.contains(file) else {
                throw declared.refusal(
                    name, "is \"\(file)\", but the plugin has no such file",
                    hint: nearest(file, in: files).map { "did you mean \"\($0)\"?" })
            }
            flows[name] = file
        }
        return flows
    }
}

extension PluginManifest.Work {
    fileprivate static let hookCPU = Duration.milliseconds(50)
    fileprivate static let hookTimeout = Duration.seconds(1)
    static let observerTimeout = Duration.seconds(30)
    private static let leastTime = Duration.milliseconds(1)

    init(_ table: ManifestTable, cpu: Duration, timeout: Duration, longest: Duration) throws(LuaError) {
        function = try table.function("run")
        self.cpu = try table.duration("cpu", in: Self.leastTime ... .seconds(60), "between 1 ms and 60 s") ?? cpu
        self.timeout =
            try table.duration("timeout", in: Self.leastTime...longest, "between 1 ms and \(longest.components.seconds) s") ?? timeout
    }
}
