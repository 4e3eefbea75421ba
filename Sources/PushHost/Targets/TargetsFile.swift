import Bindings
import PushCore
import Yams

/// `targets:` and `devices:` of the file of settings, which flows are run against.
///
/// ```yaml
/// targets:
///   staging:
///     connection: $STAGING_CONNECTION
///     hub: news
///     backend: https://backend.staging.example.com
///     production: true
///     devices:
///       alice-1: { platform: apns, handle: 0F744707BE… }
/// devices:            # of every target
///   bob-1: { platform: fcm, handle: $BOBS_PHONE }
/// ```
struct TargetsFile: Sendable {
    /// The groups of the file that are read here.
    static let groups = ["targets", "devices"]

    private(set) var targets: [String: TargetSettings] = [:]
    /// What a target cannot be used without: variables of the environment that are not set.
    private var missing: [String: [String]] = [:]
    private(set) var devices: [String: DeviceHandle] = [:]
    private var faults: [String] = []
    private var unset: [String] = []
    private let file: String
    private let environment: [String: String]

    /// Nothing, where there is no file.
    static let none = TargetsFile()

    private init() { (file, environment) = ("", [:]) }

    /// Throws `settings.invalid` with every fault, each with where it stands. What else the file says is not looked at.
    init(_ text: String, file: String, environment: [String: String]) throws(PushError) {
        self.file = file
        self.environment = environment
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            // The error quotes the line, which may hold a key.
            let place = (error as? YamlError)?.line.map { ":\($0)" } ?? ""
            throw Self.invalid(["\(file)\(place): this is not YAML\((error as? YamlError).map { ": \($0.reason)" } ?? "")"])
        }
        if let node = root?.mapping?["devices"], !node.isNothing { devices = readDevices(node, "devices") }
        if let node = root?.mapping?["targets"], !node.isNothing {
            guard let mapping = node.mapping else { throw Self.invalid([place(node, "\"targets\" holds targets by their names")]) }
            for (key, value) in mapping {
                guard let name = key.string, Self.isName(name) else {
                    faults.append(place(key, "the name of a target has letters, digits, - and _, and is not embedded"))
                    continue
                }
                unset = []
                targets[name] = readTarget(value, name)
                missing[name] = unset
            }
        }
        guard faults.isEmpty else { throw Self.invalid(faults) }
    }

    /// The target of that name; nil where there is none. Throws `settings.invalid` where it lacks a variable.
    func target(_ name: String) throws(PushError) -> TargetSettings? {
        if let faults = missing[name], !faults.isEmpty { throw Self.invalid(faults) }
        return targets[name]
    }

    private static func invalid(_ faults: [String]) -> PushError {
        PushError(
            "settings.invalid",
            faults.count == 1 ? faults[0] : "\(faults.count) settings are wrong\n  " + faults.joined(separator: "\n  "),
            hint: "docs/targets.md shows how targets are written", status: 400, details: ["faults": .array(faults.map(JSON.string))])
    }

    private func place(_ node: Node, _ what: String) -> String { "\(file)\(node.mark.map { ":\($0.line)" } ?? ""): \(what)" }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != TargetPlan.embedded && name.utf8.allSatisfy { $0.isPropertyCharacter || $0 == UInt8(ascii: "-") }
    }

    // MARK: - Reading

    private static let keys = [
        "url", "connection", "hub", "backend", "authority", "lab_key", "production", "timeout", "outcome_wait", "devices",
    ]

    private mutating func readTarget(_ node: Node, _ name: String) -> TargetSettings {
        var target = TargetSettings(name: name)
        guard let mapping = node.mapping else {
            faults.append(place(node, "the target \"\(name)\" holds url or connection, and more"))
            return target
        }
        for (key, value) in mapping {
            switch key.string ?? "" {
            case "url": target.url = address(value, "url")
            case "connection": target.connection = text(value, "connection").map(Secret.init)
            case "hub": target.hub = text(value, "hub")
            case "backend": target.backend = address(value, "backend")
            case "authority": target.authority = text(value, "authority")
            case "lab_key": target.labKey = text(value, "lab_key").map(Secret.init)
            case "production":
                if let isProduction = value.bool {
                    target.isProduction = isProduction
                } else {
                    faults.append(place(value, "\"production\" takes true or false"))
                }
            case "timeout": target.timeout = duration(value, "timeout") ?? target.timeout
            case "outcome_wait": target.patience = duration(value, "outcome_wait") ?? target.patience
            case "devices": target.devices = readDevices(value, "devices of \(name)")
            case let word:
                let near =
                    nearest(word, in: Self.keys).map { "; did you mean \"\($0)\"?" } ?? "; there are \(Self.keys.joined(separator: ", "))"
                faults.append(place(key, "a target has no \"\(word)\"\(near)"))
            }
        }
        switch mapping.filter({ ["url", "connection"].contains($0.key.string) }).count {
        case 0: faults.append(place(node, "the target \"\(name)\" has neither url nor connection"))
        case 1: break
        default: faults.append(place(node, "the target \"\(name)\" has url and connection, which may be two places: it takes one"))
        }
        return target
    }

    private mutating func readDevices(_ node: Node, _ what: String) -> [String: DeviceHandle] {
        guard let mapping = node.mapping else {
            faults.append(place(node, "\(what) are written as name: { platform: apns, handle: … }"))
            return [:]
        }
        var devices: [String: DeviceHandle] = [:]
        for (key, value) in mapping {
            let name = key.string ?? ""
            guard let platform = value.mapping?["platform"]?.string.flatMap({ Platform(name: $0) }),
                let handle = value.mapping?["handle"], value.mapping?.count == 2
            else {
                faults.append(
                    place(
                        value,
                        "the device \"\(name)\" takes platform (\(Platform.spellings.joined(separator: ", "))) and handle, nothing else"))
                continue
            }
            let known = unset.count
            do throws(PushError) {
                devices[name] = try self.handle(handle, platform)
            } catch  where unset.count > known {
                // A flow that does not name it can do without.
                unset.removeLast(unset.count - known)
            } catch {
                faults.append(place(value, "the device \"\(name)\": \(error.message)"))
            }
        }
        return devices
    }

    /// A text, or for browsers the members of a subscription.
    private mutating func handle(_ node: Node, _ platform: Platform) throws(PushError) -> DeviceHandle {
        if let mapping = node.mapping {
            func member(_ name: String) -> String { mapping[name]?.string ?? "" }
            return try DeviceHandle(endpoint: member("endpoint"), p256dh: member("p256dh"), auth: member("auth"))
        }
        return try DeviceHandle(platform: platform, text: text(node, "handle") ?? "")
    }

    private mutating func address(_ node: Node, _ name: String) -> String? {
        guard let text = text(node, name) else { return nil }
        guard let url = TargetPlan.address(text) else {
            faults.append(place(node, "\"\(name)\" takes an address such as https://push.example.com"))
            return nil
        }
        return url
    }

    private mutating func duration(_ node: Node, _ name: String) -> Duration? {
        guard let duration = node.string.flatMap({ Duration(parsing: $0) ?? Duration(parsing: "\($0)s") }), duration > .zero else {
            faults.append(place(node, "\"\(name)\" takes a duration such as 30s"))
            return nil
        }
        return duration
    }

    /// The text of a scalar; `$NAME` and `${NAME}` are variables of the environment, so that keys need not stand in the file.
    private mutating func text(_ node: Node, _ name: String) -> String? {
        guard let text = node.scalar?.string, !node.isNothing else {
            faults.append(place(node, "\"\(name)\" takes a text"))
            return nil
        }
        guard let variable = text.wholeMatch(of: /\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/)?.1 else { return text }
        guard let value = environment[String(variable)], !value.isEmpty else {
            unset.append(place(node, "the variable \(variable) for \"\(name)\" is not set"))
            return nil
        }
        return value
    }
}

extension Node {
    /// Whether there is a name without a value.
    fileprivate var isNothing: Bool { scalar.map { ["", "~", "null"].contains($0.string) && $0.style == .plain } ?? false }
}
