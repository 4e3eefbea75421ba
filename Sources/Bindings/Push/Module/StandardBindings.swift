import Lua

/// The functions that every program has.
enum StandardBindings {
    /// All of them, in the order of the reference.
    static let all: [Binding] =
        [
            FlowBindings.args, FlowBindings.caller, AccountBindings.account, AccountBindings.login,
            RegistrationBindings.register, SubscriptionBindings.subscribe, SubscriptionBindings.unsubscribe,
            SendBindings.send, PlanBindings.plan, ScheduleBindings.schedule, ScheduleBindings.cancel,
            SendBindings.outcome, TraceBindings.trace, FlowBindings.everyone,
            InstallationBindings.install, InstallationBindings.installation, InstallationBindings.installations,
            InstallationBindings.patch, InstallationBindings.uninstall, SecurePayloadBindings.fetchSecurePayload,
            RegistrationBindings.sessionRegister, CurrentUserBindings.registerCurrentUser,
            AccountBindings.sessionSend, SecurePayloadBindings.sendSecure, SecurePayloadBindings.sessionFetchSecurePayload,
            SecurePayloadBindings.revokeSecurePayload, SecurePayloadBindings.secureReads,
            AccountBindings.logout, DeviceBindings.device, DeviceBindings.devices, DeviceBindings.findDevice, DeviceBindings.inbox,
            DeviceBindings.waitFor, DeviceBindings.onPush, DeviceBindings.nextPush, DeviceBindings.show, DeviceBindings.handle,
            DeviceBindings.storage, DeviceBindings.storageRead, DeviceBindings.storageWrite,
            SubscriptionBindings.categories,
        ] + DeviceBindings.actions + [
            TagBindings.tagUser, TagBindings.tagDevice, TagBindings.tagAny, TagBindings.tagAll, TagBindings.tagNone,
            TagBindings.tagMatch, TagBindings.tagExplain, FlowBindings.step, FlowBindings.rehearse, FlowBindings.expect,
            FlowBindings.check, FlowBindings.try, FlowBindings.fail, NestedFlowBindings.run,
            TestBindings.describe, TestBindings.it, TestBindings.each, TestBindings.beforeEach, TestBindings.afterEach,
            TestBindings.spy, TestBindings.snapshot, TestBindings.allowNoTarget,
        ] + PropertyBindings.all + [
            FlowBindings.spawn, FlowBindings.all, FlowBindings.taskAwait, FlowBindings.taskCancel, FlowBindings.sleep,
            ObservationBindings.clockNow, ObservationBindings.clockISO, ObservationBindings.clockAdvance, ObservationBindings.wire,
            SimulatorBindings.simulator, SimulatorBindings.simulatorFail, SimulatorBindings.simulatorLatency,
            SimulatorBindings.simulatorDisconnect, SimulatorBindings.simulatorRevokeTokens, SimulatorBindings.simulatorReset,
            SimulatorBindings.simulatorReasons, LocaleBindings.localeChoose, LocaleBindings.localeProperty,
            LocaleBindings.localeProperties, FlowBindings.secret, FlowBindings.sign, FlowBindings.target, FlowBindings.log,
            JSONBindings.jsonEncode, JSONBindings.jsonDecode, JSONBindings.jsonArray, JSONBindings.jsonNull,
            ZonedTimeBindings.clockLocal, ZonedTimeBindings.clockNext, ZonedTimeBindings.clockWindow, ZonedTimeBindings.clockZones,
            PluginTestBindings.testPlugin, PluginTestBindings.pluginRequest, PluginTestBindings.pluginLog,
            PluginTestBindings.pluginAsked, PluginBindings.config, OutboundBindings.http,
            KeyValueBindings.kvGet, KeyValueBindings.kvEntry, KeyValueBindings.kvPut, KeyValueBindings.kvDelete, KeyValueBindings.kvAdd,
            KeyValueBindings.kvTake, KeyValueBindings.kvKeys, PluginBindings.groupCountTags, PluginBindings.groupDevices,
        ]
}

extension BindingRegistry {
    /// The registry of a program that adds no functions.
    package static let standard = BindingRegistry(StandardBindings.all, types: ModuleTypes.all, handles: PushModule.types)
}
