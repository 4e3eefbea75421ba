import Bindings
public import Lua
import PushModel

/// A plugin written in Swift and built into your own program. List it by name in `plugins.yaml`, among plugins that are folders; hooks are
/// called in that order.
///
/// The plugin is called for the protocols that it conforms to in addition to this one: ``BeforeSendHook``, ``AfterSendHook``,
/// ``BeforeDeliverHook``, ``OutcomeHook``, ``RegisterHook``, ``LoginHook``, ``SecureFetchHook``. A hook must not block its thread.
public protocol NativePlugin: Sendable {
    /// The name: lower-case letters, digits and hyphens.
    static var name: String { get }
    /// The version shown to people.
    static var version: String { get }
    /// A summary of one line for lists.
    static var summary: String { get }
    /// The settings that it accepts under `config` in `plugins.yaml`.
    static var settings: [NativeSetting] { get }

    /// Creates the plugin with its settings. When settings change, a new instance is created; calls in progress finish with the old one.
    ///
    /// - Throws: An error if the plugin cannot start. The previous instance then stays active.
    init(_ setup: NativeSetup) throws
}

extension NativePlugin {
    public static var summary: String { "" }
    public static var settings: [NativeSetting] { [] }
}

/// What happens if a deciding hook fails or times out.
public enum FailurePolicy: Sendable {
    /// Continue as if the hook did not exist.
    case failOpen
    /// Reject the request with status 503.
    case failClosed
}

/// Thrown by a hook to reject a request. The requester gets the reason, with status 403. Any other error counts as a failure of the hook.
public struct Veto: Error {
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// A plugin whose hooks the hub waits for.
public protocol DecidingPlugin: NativePlugin {
    /// The failure policy. There is no default, because only the author can decide this.
    static var onFailure: FailurePolicy { get }
    /// Maximum duration of a call; one second by default.
    static var timeout: Duration { get }
}

extension DecidingPlugin {
    public static var timeout: Duration { .seconds(1) }
}

/// Called for each notification before it is accepted.
public protocol BeforeSendHook: DecidingPlugin {
    /// Returns the notification to accept instead; throws a ``Veto`` to reject it.
    func beforeSend(_ draft: NotificationDraft) async throws -> NotificationDraft
}

/// Called for each accepted notification.
public protocol AfterSendHook: NativePlugin {
    /// Called after the fact: the send does not wait for it.
    func afterSend(_ notification: NotificationReceipt) async throws
}

/// Called for the devices of each platform before they receive a notification.
public protocol BeforeDeliverHook: DecidingPlugin {
    /// Returns rulings for devices that are to be skipped or to receive the notification later. The first ruling for a device applies.
    func beforeDeliver(_ group: DeviceGroup) async throws -> [Ruling]
}

/// Called for each notification that has ended.
public protocol OutcomeHook: NativePlugin {
    /// Called after the fact: the hub does not wait for it.
    func onOutcome(_ outcome: Outcome) async throws
}

/// Called for each registration and installation before it is stored.
public protocol RegisterHook: DecidingPlugin {
    /// Returns what to store instead; throws a ``Veto`` to reject it.
    func onRegister(_ candidate: RegistrationCandidate) async throws -> RegistrationCandidate
}

/// Called for each user who has authenticated.
public protocol LoginHook: DecidingPlugin {
    /// Throws a ``Veto`` to reject the login.
    func onLogin(_ login: Login) async throws
}

/// Called for each read of a secure payload. The hook does not see its content.
public protocol SecureFetchHook: DecidingPlugin {
    /// Throws a ``Veto`` to reject the read.
    func onSecureFetch(_ read: SecurePayloadRead) async throws
}

/// The environment in which a plugin is created.
public struct NativeSetup: Sendable {
    /// The validated settings by name, with defaults. A duration is a number of seconds.
    public let settings: NativeArguments
    private let base: NativePluginSetup

    init(_ base: NativePluginSetup) {
        self.base = base
        settings = NativeArguments(base.settings.fields)
    }

    /// Makes a setup, to test a plugin. The settings are not validated.
    ///
    /// - Parameter now: Milliseconds since 1970. The clock does not advance.
    public init(settings: [String: LuaValue] = [:], now: Int64 = 0, log: @escaping @Sendable (String) -> Void = { _ in }) {
        self.init(
            NativePluginSetup(
                settings: LuaTable(fields: settings), log: { log($1) }, clock: VirtualClock(now: Timestamp(milliseconds: now))))
    }

    /// The value of a setting of the type ``NativeSetting/secret(_:_:)``. Never log it.
    public func secret(_ name: String) -> String? {
        guard case .object(let object)? = settings[name], let secret = object.payload as? Secret else { return nil }
        return secret.reveal()
    }

    /// Writes a line to the server's log, with the plugin's name.
    public func log(_ text: String) { base.log(.info, text) }

    /// Writes a warning that an operator should act on.
    public func warn(_ text: String) { base.log(.warn, text) }

    /// The hub's time in milliseconds since 1970. In a rehearsal it is virtual.
    public var now: Int64 { base.clock.now.milliseconds }
}

/// A setting of a plugin.
public struct NativeSetting: Sendable {
    let field: ConfigSchema.Field

    private init(_ name: String, _ type: ConfigSchema.FieldType, _ value: JSON?, _ summary: String) {
        field = ConfigSchema.Field(name: name, type: type, defaultValue: value, isRequired: value == nil, summary: summary)
    }

    /// A string; required if it has no default.
    public static func string(_ name: String, default value: String? = nil, choices: [String] = [], _ summary: String) -> NativeSetting {
        NativeSetting(name, .string(choices: choices), value.map(JSON.string), summary)
    }

    /// An integer; required if it has no default.
    public static func integer(
        _ name: String, default value: Int? = nil, in range: ClosedRange<Int>? = nil, _ summary: String
    ) -> NativeSetting {
        let bounds = ConfigSchema.Bounds(minimum: range.map { Double($0.lowerBound) }, maximum: range.map { Double($0.upperBound) })
        return NativeSetting(name, .integer(bounds), value.map { .integer(Int64($0)) }, summary)
    }

    /// A number; required if it has no default.
    public static func number(
        _ name: String, default value: Double? = nil, in range: ClosedRange<Double>? = nil, _ summary: String
    ) -> NativeSetting {
        let bounds = ConfigSchema.Bounds(minimum: range?.lowerBound, maximum: range?.upperBound)
        return NativeSetting(name, .number(bounds), value.map { .number($0) }, summary)
    }

    /// `true` or `false`; required if it has no default.
    public static func boolean(_ name: String, default value: Bool? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .boolean, value.map { .bool($0) }, summary)
    }

    /// A duration such as `90s` or `1h30m`. The plugin receives seconds.
    public static func duration(_ name: String, default value: String? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .duration, value.map(JSON.string), summary)
    }

    /// A list of strings.
    public static func strings(_ name: String, default value: [String]? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .list(.string(choices: [])), value.map { .array($0.map(JSON.string)) }, summary)
    }

    /// The name of a stored secret; ``NativeSetup/secret(_:)`` returns its value.
    public static func secret(_ name: String, _ summary: String) -> NativeSetting { NativeSetting(name, .secret, nil, summary) }
}
