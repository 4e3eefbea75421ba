import Bindings
import PushModel

extension NativePlugin {
    /// The description under which the host registers the plugin.
    static var nativeType: NativePluginType {
        let deciding = self as? any DecidingPlugin.Type
        var schema = ConfigSchema()
        schema.fields = settings.map(\.field)
        return NativePluginType(
            name: name, release: version, summary: summary, settings: schema, phases: phases,
            isFailClosed: deciding.map { $0.onFailure == .failClosed } ?? false, timeout: deciding?.timeout ?? .seconds(1)
        ) { setup in
            HookCalls(plugin: try Self(NativeSetup(setup)))
        }
    }

    private static var phases: Set<HookPhase> {
        var phases: Set<HookPhase> = []
        if self is any BeforeSendHook.Type { phases.insert(.beforeSend) }
        if self is any AfterSendHook.Type { phases.insert(.afterSend) }
        if self is any BeforeDeliverHook.Type { phases.insert(.beforeDeliver) }
        if self is any OutcomeHook.Type { phases.insert(.onOutcome) }
        if self is any RegisterHook.Type { phases.insert(.onRegister) }
        if self is any LoginHook.Type { phases.insert(.onLogin) }
        if self is any SecureFetchHook.Type { phases.insert(.onSecureFetch) }
        return phases
    }
}

/// Adapts a plugin to the host's interface. Hooks that the plugin does not have do nothing.
private struct HookCalls<Plugin: NativePlugin>: NativeHooks {
    let plugin: Plugin

    func beforeSend(_ draft: SendDraft) async throws -> SendDraft {
        guard let hook = plugin as? any BeforeSendHook else { return draft }
        return try await vetoed { try await hook.beforeSend(NotificationDraft(draft)).base }
    }

    func afterSend(_ sent: SentNotification) async throws {
        try await (plugin as? any AfterSendHook)?.afterSend(NotificationReceipt(sent))
    }

    func beforeDeliver(_ group: any HookedGroup) async throws -> [DeliveryRuling] {
        guard let hook = plugin as? any BeforeDeliverHook else { return [] }
        return try await hook.beforeDeliver(DeviceGroup(group)).map { try $0.base(plugin: Plugin.name) }
    }

    func onOutcome(_ ended: EndedNotification) async throws {
        try await (plugin as? any OutcomeHook)?.onOutcome(Outcome(ended))
    }

    func onRegister(_ draft: RegistrationDraft) async throws -> RegistrationDraft {
        guard let hook = plugin as? any RegisterHook else { return draft }
        return try await vetoed { try await hook.onRegister(RegistrationCandidate(draft)).base }
    }

    func onLogin(_ login: LoginDraft) async throws {
        guard let hook = plugin as? any LoginHook else { return }
        try await vetoed { try await hook.onLogin(Login(login)) }
    }

    func onSecureFetch(_ fetch: SecureFetch) async throws {
        guard let hook = plugin as? any SecureFetchHook else { return }
        try await vetoed { try await hook.onSecureFetch(SecurePayloadRead(fetch)) }
    }

    private func vetoed<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
        do {
            return try await work()
        } catch let veto as Veto {
            throw HookVeto(reason: veto.reason)
        }
    }
}
