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
