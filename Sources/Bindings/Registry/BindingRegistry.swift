/// All bindings in the order of the reference. Argument checks, help, stubs and reference are generated from this list.
package enum BindingRegistry {
    /// The built-in bindings and those that the program has added.
    package static let all: [Binding] = builtIn + NativeExtensions.bindings

    static let builtIn: [Binding] =
        [
            .args, .caller, .account, .login, .register, .subscribe, .unsubscribe, .send, .plan, .schedule, .cancel, .outcome, .trace,
            .everyone,
            .install, .installation, .installations, .patch, .uninstall,
            .fetchSecurePayload, .sessionRegister, .registerCurrentUser, .sessionSend, .sendSecure, .sessionFetchSecurePayload,
            .revokeSecurePayload, .secureReads, .logout,
            .device, .devices, .findDevice, .inbox, .waitFor, .onPush, .nextPush, .show, .handle, .storage, .storageRead, .storageWrite,
            .categories,
        ] + Binding.deviceActions + [
            .tagUser, .tagDevice, .tagAny, .tagAll, .tagNone, .tagMatch, .tagExplain,
            .step, .rehearse, .expect, .check, .try, .fail, .run,
            .describe, .it, .beforeEach, .afterEach, .allowNoTarget,
            .spawn, .all, .taskAwait, .taskCancel, .sleep,
            .clockNow, .clockISO, .clockAdvance, .wire, .simulator, .simulatorFail, .simulatorLatency, .simulatorDisconnect,
            .simulatorRevokeTokens, .simulatorReset,
            .simulatorReasons, .localeChoose, .localeProperty, .localeProperties, .secret, .sign, .target, .log, .jsonEncode, .jsonDecode,
            .jsonArray, .jsonNull,
            .clockLocal, .clockNext, .clockWindow, .clockZones, .testPlugin, .pluginRequest, .pluginLog, .pluginAsked,
            .config, .http, .kvGet, .kvEntry, .kvPut, .kvDelete, .kvAdd, .kvTake, .kvKeys, .groupCountTags, .groupDevices,
        ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    package static func named(_ name: String) -> Binding? { byName[name] }
}

extension Binding {
    static let everyone = Binding(
        "push.everyone", "The audience of all devices.", style: .value, returns: "push.Everyone",
        phases: .everywhere, example: "push.send { to = push.everyone, alert = \"We are back\" }", body: .prelude)

    static let target = Binding(
        "push.target", "The target of the flow.", style: .value, returns: "push.Target", phases: .everywhere,
        example: "print(push.target.name)",
        body: .prelude)

    static let taskAwait = Binding(
        "task:await", "Waits for a spawned function. Returns its results or raises its error.", returns: "any",
        phases: .running, example: "local text = push.spawn(function() return \"done\" end):await()", body: .prelude)

    static let taskCancel = Binding(
        "task:cancel", "Cancels a spawned function: the call that it waits for raises \"cancelled\".",
        phases: .running, example: "push.spawn(function() push.sleep \"1h\" end):cancel()", body: .prelude)
}
