import Bindings
import PushModel
import PushRuntime
import Yams

/// Reads `flows:` of the settings file: the scripts that a server runs, and what starts each.
///
/// ```yaml
/// flows:
///   - name: breaking-news
///     script: scripts/breaking_news.lua
///     http: send                          # who may POST /flows/breaking-news: send, listen, manage, account, open
///   - name: morning
///     script: scripts/morning.lua
///     schedule: "30 9 * * MON-FRI"        # or a list, each with its own cron, time_zone, missed, name and args
///     time_zone: Europe/Lisbon
///     missed: once                        # skip, once, all
///   - name: welcome
///     script: scripts/welcome.lua
///     events: [registration.created]
///     guarantee: at-least-once
///     args: { text: "Good to have you" }
/// ```
struct FlowSettingsReader {
    typealias Fault = SettingsFile.Fault

    private(set) var flows: [ServedFlow] = []
    private(set) var faults: [Fault] = []

    static let group = "flows"
    init(_ node: Node) {
        guard !node.isEmptyScalar else { return }
        guard let sequence = node.sequence else {
            refuse(node, "flows must be a list, such as - name: morning")
            return
        }
        for item in sequence {
            guard let mapping = item.mapping else {
                refuse(item, "a flow must be a mapping, such as - name: morning")
                continue
            }
            read(mapping, item)
        }
        let backends = flows.filter(\.triggers.answersBackend)
        if backends.count > 1 {
            refuse(node, "\(backends.map(\.name).joined(separator: " and ")) both have backend: notifications; only one flow can")
        }
        let names = flows.flatMap { $0.triggers.schedules.map(\.name) }
        for name in Set(names).sorted() where names.count(where: { $0 == name }) > 1 {
            refuse(node, "duplicate schedule name \(name): rename one of them")
        }
    }

    private mutating func read(_ mapping: Node.Mapping, _ item: Node) {
        let before = faults.count
        checkKeys(mapping, FlowKey.ofFlow, "a flow")
        var flow = ServedFlow(name: text(mapping, "name") ?? "", script: text(mapping, "script") ?? "")
        if flow.name.isEmpty {
            refuse(item, "a flow needs a \"name\"")
        } else if !ServedFlow.isName(flow.name) {
            refuse(mapping["name"] ?? item, "invalid flow name \"\(flow.name)\": use letters, digits, - and _, at most 60")
        } else if flows.contains(where: { $0.name == flow.name }) {
            refuse(mapping["name"] ?? item, "duplicate flow name \(flow.name)")
        }
        if flow.script.isEmpty { refuse(item, "the flow \(flow.name) needs a \"script\"") }
        flow.hub = text(mapping, "hub")
        flow.triggers.access = word(mapping, "http", FlowAccess.words) { FlowAccess(word: $0) }
        flow.triggers.events = events(mapping)
        flow.triggers.answersBackend = word(mapping, "backend", ["notifications"]) { _ in true } ?? false
        flow.arguments = arguments(mapping)
        flow.policy.concurrency = count(mapping, "concurrency", 1...100) ?? 1
        flow.policy.overlap = word(mapping, "overlap", OverlapPolicy.allCases.map(\.rawValue)) { OverlapPolicy(rawValue: $0) }
        flow.policy.guarantee =
            word(mapping, "guarantee", RunGuarantee.allCases.map(\.rawValue)) { RunGuarantee(rawValue: $0) } ?? .atMostOnce
        flow.policy.timeout = duration(mapping, "timeout")
        flow.policy.cpuLimit = duration(mapping, "cpu_limit") ?? RunPolicy.standardCPULimit
        flow.policy.ceiling = count(mapping, "ceiling", 0...1_000_000_000)
        flow.triggers.schedules = schedules(mapping, of: flow.name)
        var isEnabled = true
        if let node = mapping["enabled"] {
            if let flag = node.bool { isEnabled = flag } else { refuse(node, "\"enabled\" must be true or false") }
        }
        if faults.count == before, isEnabled { flows.append(flow) }
    }

    // MARK: - Schedules

    private mutating func schedules(_ mapping: Node.Mapping, of flow: String) -> [ScheduleRule] {
        guard let node = mapping["schedule"] else {
            for key in ["time_zone", "missed"] where mapping[key] != nil {
                refuse(mapping[key] ?? Node(""), "\"\(key)\" needs a \"schedule\", which the flow \(flow) does not have")
            }
            return []
        }
        if let sequence = node.sequence.map({ Array($0) }) ?? (node.mapping == nil ? nil : [node]) {
            return sequence.enumerated().compactMap { number, item in
                guard let inner = item.mapping else {
                    return rule(item, mapping, name: sequence.count == 1 ? flow : "\(flow)-\(number + 1)", of: flow)
                }
                checkKeys(inner, FlowKey.ofSchedule, "a schedule")
                guard let cron = inner["cron"] else {
                    refuse(item, "a schedule of the flow \(flow) needs \"cron\"")
                    return nil
                }
                let name = text(inner, "name") ?? (sequence.count == 1 ? flow : "\(flow)-\(number + 1)")
                return rule(cron, inner, outer: mapping, name: name, of: flow)
            }
        }
        return rule(node, mapping, name: flow, of: flow).map { [$0] } ?? []
    }

    /// - Parameter outer: the flow's mapping, if the schedule has a mapping of its own.
    private mutating func rule(
        _ cron: Node, _ mapping: Node.Mapping, outer: Node.Mapping? = nil, name: String, of flow: String
    ) -> ScheduleRule? {
        func node(_ key: String) -> Node? { mapping[key] ?? outer?[key] }
        let before = faults.count
        var schedule: CronSchedule?
        do throws(PushError) {
            schedule = try CronSchedule(cron.scalar?.string ?? "")
        } catch {
            refuse(cron, "\(error.message)\(error.hint.map { "; \($0)" } ?? "")")
        }
        let zone = node("time_zone").map { $0.scalar?.string ?? "" } ?? "UTC"
        do throws(PushError) {
            _ = try SystemTimeZones.shared.rules(of: zone)
        } catch {
            refuse(node("time_zone") ?? cron, "\(error.message)\(error.hint.map { "; \($0)" } ?? "")")
        }
        if !ServedFlow.isName(name) {
            refuse(mapping["name"] ?? cron, "invalid schedule name \"\(name)\": use letters, digits, - and _, at most 60")
        }
        var missed = MissedPolicy.skip
        if let given = node("missed") {
            if let policy = MissedPolicy(rawValue: given.scalar?.string ?? "") {
                missed = policy
            } else {
                refuse(given, "\"missed\" must be \(Self.list(MissedPolicy.allCases.map(\.rawValue)))")
            }
        }
        let arguments = outer == nil ? JSONObject() : arguments(mapping)
        guard faults.count == before, let schedule else { return nil }
        return ScheduleRule(name: name, flow: flow, cron: schedule, timeZone: zone, missed: missed, arguments: arguments)
    }

    // MARK: - Values

    private mutating func events(_ mapping: Node.Mapping) -> Set<HubEvent.Kind> {
        guard let node = mapping["events"] else { return [] }
        let names = HubEvent.Kind.allCases.map(\.rawValue)
        var kinds: Set<HubEvent.Kind> = []
        for item in node.sequence.map(Array.init) ?? [node] {
            let text = item.scalar?.string ?? ""
            if let kind = HubEvent.Kind(rawValue: text) {
                kinds.insert(kind)
            } else {
                let near = nearest(text, in: names)
                refuse(
                    item,
                    "unknown event \"\(text)\""
                        + (near.map { "; did you mean \($0)?" } ?? "; events are \(names.joined(separator: ", "))"))
            }
        }
        return kinds
    }

    private mutating func arguments(_ mapping: Node.Mapping) -> JSONObject {
        guard let node = mapping["args"], !node.isEmptyScalar else { return JSONObject() }
        guard node.mapping != nil, let object = JSON(node).object else {
            refuse(node, "\"args\" must map names to arguments")
            return JSONObject()
        }
        return object
    }

    private mutating func text(_ mapping: Node.Mapping, _ key: String) -> String? {
        guard let node = mapping[key] else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty else {
            refuse(node, "\"\(key)\" must be a string")
            return nil
        }
        return text
    }

    private mutating func word<Value>(
        _ mapping: Node.Mapping, _ key: String, _ words: [String], _ read: (String) -> Value?
    ) -> Value? {
        guard let node = mapping[key] else { return nil }
        if let text = node.scalar?.string, words.contains(text), let value = read(text) { return value }
        let near = nearest(node.scalar?.string ?? "", in: words).map { "; did you mean \($0)?" } ?? ""
        refuse(node, "\"\(key)\" must be \(Self.list(words))\(near)")
        return nil
    }

    private mutating func duration(_ mapping: Node.Mapping, _ key: String) -> Duration? {
        guard let node = mapping[key] else { return nil }
        if let duration = Duration(positive: node.scalar?.string ?? "") { return duration }
        refuse(node, "\"\(key)\" must be a duration such as 30s or 5m")
        return nil
    }

    private mutating func count(_ mapping: Node.Mapping, _ key: String, _ range: ClosedRange<Int>) -> Int? {
        guard let node = mapping[key] else { return nil }
        if let number = node.int, range.contains(number) { return number }
        refuse(node, "\"\(key)\" must be a number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    private static func list(_ words: [String]) -> String {
        words.count < 2 ? words.joined() : "\(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
    }

    private mutating func checkKeys(_ mapping: Node.Mapping, _ known: [FlowKey], _ what: String) {
        let keys = known.map(\.name)
        for (key, _) in mapping where !keys.contains(key.string ?? "") {
            let near = nearest(key.string ?? "", in: keys).map { "; did you mean \"\($0)\"?" } ?? ""
            refuse(key, "\(what) has no key \"\(key.string ?? "")\"\(near)")
        }
    }

    private mutating func refuse(_ node: Node, _ text: String) { faults.append(Fault(line: node.mark?.line, text: text)) }
}
