import Bindings
public import Lua
import PushCore

/// A plugin that is written in Swift and built into a program of your own. `plugins.yaml` lists it by its name, among those that are
/// folders, and it is asked in that order.
///
/// What it is called for are the protocols that it conforms to beside this one: ``BeforeSendHook``, ``AfterSendHook``,
/// ``BeforeDeliverHook``, ``OutcomeHook``, ``RegisterHook``, ``LoginHook``, ``SecureFetchHook``. A hook must not block its thread.
public protocol NativePlugin: Sendable {
    /// Small letters, digits and hyphens.
    static var name: String { get }
    /// For people.
    static var version: String { get }
    /// A line for lists.
    static var summary: String { get }
    /// What it takes from `config` in `plugins.yaml`.
    static var settings: [NativeSetting] { get }

    /// Makes one with its settings. One is made anew where they change; calls under way end with the old one.
    ///
    /// - Throws: why it cannot begin; the one before it stays.
    init(_ setup: NativeSetup) throws
}

extension NativePlugin {
    public static var summary: String { "" }
    public static var settings: [NativeSetting] { [] }
}

/// What becomes of the work when a hook that decides fails, or does not answer in time.
public enum FailurePolicy: Sendable {
    /// It goes on as if there were no such hook.
    case failOpen
    /// It is refused, with 503.
    case failClosed
}

/// What a hook throws that refuses; whoever asked for the work is told the reason, with 403. Anything else that it throws is a failure.
public struct Veto: Error {
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// A plugin with hooks that the hub waits for.
public protocol DecidingPlugin: NativePlugin {
    /// There is no default: nobody but the author knows.
    static var onFailure: FailurePolicy { get }
    /// How long a call may take; a second, unless it says otherwise.
    static var timeout: Duration { get }
}

extension DecidingPlugin {
    public static var timeout: Duration { .seconds(1) }
}

/// Is asked about each notification before it is accepted.
public protocol BeforeSendHook: DecidingPlugin {
    /// Answers what is accepted instead; throws a ``Veto`` to refuse it.
    func beforeSend(_ draft: NotificationDraft) async throws -> NotificationDraft
}

/// Is told of each notification that was accepted.
public protocol AfterSendHook: NativePlugin {
    /// Nobody waits for it.
    func afterSend(_ notification: NotificationReceipt) async throws
}

/// Is asked about the devices of each platform before they get a notification.
public protocol BeforeDeliverHook: DecidingPlugin {
    /// Answers which devices do not get it, or get it later: of each device the first ruling holds.
    func beforeDeliver(_ group: DeviceGroup) async throws -> [Ruling]
}

/// Is told of each notification that has ended.
public protocol OutcomeHook: NativePlugin {
    /// Nobody waits for it.
    func onOutcome(_ outcome: Outcome) async throws
}

/// Is asked about each registration and installation before it is kept.
public protocol RegisterHook: DecidingPlugin {
    /// Answers what is kept instead; throws a ``Veto`` to refuse it.
    func onRegister(_ candidate: RegistrationCandidate) async throws -> RegistrationCandidate
}

/// Is asked about each user who has proved who they are.
public protocol LoginHook: DecidingPlugin {
    /// Throws a ``Veto`` to refuse the login.
    func onLogin(_ login: Login) async throws
}

/// Is asked about each read of a secure payload, whose content it does not see.
public protocol SecureFetchHook: DecidingPlugin {
    /// Throws a ``Veto`` to refuse it.
    func onSecureFetch(_ read: SecurePayloadRead) async throws
}

/// What a plugin is made with.
public struct NativeSetup: Sendable {
    /// The settings by name, checked, with defaults; a duration is a number of seconds.
    public let settings: NativeArguments
    private let base: NativePluginSetup

    init(_ base: NativePluginSetup) {
        self.base = base
        settings = NativeArguments(base.settings.fields)
    }

    /// One for tests of a plugin; the settings are taken as they are.
    ///
    /// - Parameter now: in milliseconds since 1970; the time stands still.
    public init(settings: [String: LuaValue] = [:], now: Int64 = 0, log: @escaping @Sendable (String) -> Void = { _ in }) {
        self.init(
            NativePluginSetup(
                settings: LuaTable(fields: settings), log: { log($1) }, clock: VirtualClock(now: Timestamp(milliseconds: now))))
    }

    /// The text of a setting of the type ``NativeSetting/secret(_:_:)``. Never log it.
    public func secret(_ name: String) -> String? {
        guard case .object(let object)? = settings[name], let secret = object.payload as? Secret else { return nil }
        return secret.reveal()
    }

    /// Writes a line into the server's log, with the plugin's name.
    public func log(_ text: String) { base.log(.info, text) }

    /// The same of what somebody should see to.
    public func warn(_ text: String) { base.log(.warn, text) }

    /// The time of the hub, in milliseconds since 1970: in a rehearsal it is virtual.
    public var now: Int64 { base.clock.now.milliseconds }
}

/// One setting of a plugin.
public struct NativeSetting: Sendable {
    let field: ConfigSchema.Field

    private init(_ name: String, _ type: ConfigSchema.FieldType, _ value: JSON?, _ summary: String) {
        field = ConfigSchema.Field(name: name, type: type, defaultValue: value, isRequired: value == nil, summary: summary)
    }

    /// A text; required where there is no default.
    public static func string(_ name: String, default value: String? = nil, choices: [String] = [], _ summary: String) -> NativeSetting {
        NativeSetting(name, .string(choices: choices), value.map(JSON.string), summary)
    }

    /// A whole number.
    public static func integer(
        _ name: String, default value: Int? = nil, in range: ClosedRange<Int>? = nil, _ summary: String
    ) -> NativeSetting {
        let bounds = ConfigSchema.Bounds(minimum: range.map { Double($0.lowerBound) }, maximum: range.map { Double($0.upperBound) })
        return NativeSetting(name, .integer(bounds), value.map { .integer(Int64($0)) }, summary)
    }

    /// A number.
    public static func number(
        _ name: String, default value: Double? = nil, in range: ClosedRange<Double>? = nil, _ summary: String
    ) -> NativeSetting {
        let bounds = ConfigSchema.Bounds(minimum: range?.lowerBound, maximum: range?.upperBound)
        return NativeSetting(name, .number(bounds), value.map { .number($0) }, summary)
    }

    /// `true` or `false`.
    public static func boolean(_ name: String, default value: Bool? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .boolean, value.map { .bool($0) }, summary)
    }

    /// `90s`, `1h30m`; the plugin gets seconds.
    public static func duration(_ name: String, default value: String? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .duration, value.map(JSON.string), summary)
    }

    /// A list of texts.
    public static func strings(_ name: String, default value: [String]? = nil, _ summary: String) -> NativeSetting {
        NativeSetting(name, .list(.string(choices: [])), value.map { .array($0.map(JSON.string)) }, summary)
    }

    /// The name of a secret; ``NativeSetup/secret(_:)`` tells the text.
    public static func secret(_ name: String, _ summary: String) -> NativeSetting { NativeSetting(name, .secret, nil, summary) }
}
