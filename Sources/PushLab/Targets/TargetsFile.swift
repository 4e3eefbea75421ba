import Bindings
package import PushModel
import PushRuntime
import Yams

/// Reads the groups `targets:` and `devices:` of the settings file.
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
package struct TargetsFile: Sendable {
    /// The groups that this type reads.
    package static let groups = ["targets", "devices"]

    package private(set) var targets: [String: TargetSettings] = [:]
    /// Messages about unset environment variables, by target.
    private var missing: [String: [String]] = [:]
    package private(set) var devices: [String: DeviceHandle] = [:]
    private var faults: [String] = []
    private var unset: [String] = []
    private let file: String
    private let environment: [String: String]

    /// The empty value, used without a settings file.
    package static let none = TargetsFile()

    private init() { (file, environment) = ("", [:]) }

    /// Parses the two groups and ignores the others. Throws `settings.invalid` with every fault and its location.
    package init(_ text: String, file: String, environment: [String: String]) throws(PushError) {
        self.file = file
        self.environment = environment
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            // The error's description quotes the line, which may contain a key.
            let location = (error as? YamlError)?.line.map { ":\($0)" } ?? ""
            throw Self.invalid(["\(file)\(location): invalid YAML\((error as? YamlError).map { " (\($0.reason))" } ?? "")"])
        }
        if let node = root?.mapping?["devices"], !node.isNothing { devices = readDevices(node, "devices") }
        if let node = root?.mapping?["targets"], !node.isNothing {
            guard let mapping = node.mapping else { throw Self.invalid([location(node, "\"targets\" must map names to targets")]) }
            for (key, value) in mapping {
                guard let name = key.string, Self.isName(name) else {
                    faults.append(location(key, "a target name may contain letters, digits, - and _, and must not be embedded"))
                    continue
                }
                unset = []
                targets[name] = readTarget(value, name)
                missing[name] = unset
            }
        }
        guard faults.isEmpty else { throw Self.invalid(faults) }
    }

    /// The target of that name; nil if there is none. Throws `settings.invalid` if an environment variable that it needs is not set.
    package func target(_ name: String) throws(PushError) -> TargetSettings? {
        if let faults = missing[name], !faults.isEmpty { throw Self.invalid(faults) }
        return targets[name]
    }

    private static func invalid(_ faults: [String]) -> PushError {
        PushError(
            "settings.invalid",
            faults.count == 1 ? faults[0] : "\(faults.count) settings are invalid\n  " + faults.joined(separator: "\n  "),
            hint: "see docs/how-to/targets.md for the format", status: 400, details: ["faults": .array(faults.map(JSON.string))])
    }

    private func location(_ node: Node, _ what: String) -> String { "\(file)\(node.mark.map { ":\($0.line)" } ?? ""): \(what)" }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != TargetSettings.embedded && name.utf8.allSatisfy { $0.isPropertyCharacter || $0 == UInt8(ascii: "-") }
    }

    // MARK: - Reading

    private static let keys = [
        "url", "connection", "hub", "backend", "authority", "lab_key", "production", "timeout", "outcome_wait", "devices",
    ]

    private mutating func readTarget(_ node: Node, _ name: String) -> TargetSettings {
        var target = TargetSettings(name: name)
        guard let mapping = node.mapping else {
            faults.append(location(node, "the target \"\(name)\" must contain url or connection"))
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
                    faults.append(location(value, "\"production\" must be true or false"))
                }
            case "timeout": target.timeout = duration(value, "timeout") ?? target.timeout
            case "outcome_wait": target.outcomeWait = duration(value, "outcome_wait") ?? target.outcomeWait
            case "devices": target.devices = readDevices(value, "devices of \(name)")
            case let word:
                let near =
                    nearest(word, in: Self.keys).map { "; did you mean \"\($0)\"?" } ?? "; valid keys: \(Self.keys.joined(separator: ", "))"
                faults.append(location(key, "unknown key \"\(word)\" in a target\(near)"))
            }
        }
        switch mapping.filter({ ["url", "connection"].contains($0.key.string) }).count {
        case 0: faults.append(location(node, "the target \"\(name)\" has neither url nor connection"))
        case 1: break
        default: faults.append(location(node, "the target \"\(name)\" has url and connection: set one of them"))
        }
        return target
    }

    private mutating func readDevices(_ node: Node, _ what: String) -> [String: DeviceHandle] {
        guard let mapping = node.mapping else {
            faults.append(location(node, "\(what) must have the form name: { platform: apns, handle: … }"))
            return [:]
        }
        var devices: [String: DeviceHandle] = [:]
        for (key, value) in mapping {
            let name = key.string ?? ""
            guard let platform = value.mapping?["platform"]?.string.flatMap({ Platform(name: $0) }),
                let handle = value.mapping?["handle"], value.mapping?.count == 2
            else {
                faults.append(
                    location(
                        value,
                        "the device \"\(name)\" must contain only platform (\(Platform.spellings.joined(separator: ", "))) and handle"))
                continue
            }
            let known = unset.count
            do throws(PushError) {
                devices[name] = try self.handle(handle, platform)
            } catch  where unset.count > known {
                // A device whose variable is not set is skipped: a flow that does not use it can still run.
                unset.removeLast(unset.count - known)
            } catch {
                faults.append(location(value, "the device \"\(name)\": \(error.message)"))
            }
        }
        return devices
    }

    /// Reads a handle: a text, or for browsers the members of a subscription.
    private mutating func handle(_ node: Node, _ platform: Platform) throws(PushError) -> DeviceHandle {
        if let mapping = node.mapping {
            func member(_ name: String) -> String { mapping[name]?.string ?? "" }
            return try DeviceHandle(endpoint: member("endpoint"), p256dh: member("p256dh"), auth: member("auth"))
        }
        return try DeviceHandle(platform: platform, text: text(node, "handle") ?? "")
    }

    private mutating func address(_ node: Node, _ name: String) -> String? {
        guard let text = text(node, name) else { return nil }
        guard let url = TargetSettings.address(text) else {
            faults.append(location(node, "\"\(name)\" must be an address such as https://push.example.com"))
            return nil
        }
        return url
    }

    private mutating func duration(_ node: Node, _ name: String) -> Duration? {
        guard let duration = node.string.flatMap({ Duration(parsing: $0) ?? Duration(parsing: "\($0)s") }), duration > .zero else {
            faults.append(location(node, "\"\(name)\" must be a duration such as 30s"))
            return nil
        }
        return duration
    }

    /// Reads a text. `$NAME` and `${NAME}` are replaced by environment variables, so that keys need not be in the file.
    private mutating func text(_ node: Node, _ name: String) -> String? {
        guard let text = node.scalar?.string, !node.isNothing else {
            faults.append(location(node, "\"\(name)\" must be a string"))
            return nil
        }
        guard let variable = text.wholeMatch(of: /\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/)?.1 else { return text }
        guard let value = environment[String(variable)], !value.isEmpty else {
            unset.append(location(node, "the variable \(variable) for \"\(name)\" is not set"))
            return nil
        }
        return value
    }
}

extension Node {
    /// Whether the value is empty or null.
    fileprivate var isNothing: Bool { scalar.map { ["", "~", "null"].contains($0.string) && $0.style == .plain } ?? false }
}
