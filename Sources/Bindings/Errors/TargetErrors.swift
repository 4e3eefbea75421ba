/// Error codes of the targets of flows, especially remote ones.
enum TargetErrors {
    static let target = ErrorArea(
        "target", "the target of a flow",
        [
            ErrorDescription(
                "target.unsupported", .failure, .finding, means: "The target does not support this operation.",
                when: "The flow needs devices, requests, faults or the clock to be simulated, which they are not; an app backend that is "
                    + "not configured; or something that Azure Notification Hubs does not have. pushhost check --target azure and --target "
                    + "pushhost report it before a run.",
                fix: "Put code that inspects devices into push.rehearse, which is skipped on real targets. Name the backend with "
                    + "--backend."),
            ErrorDescription(
                "target.key", .failure, .refusal, means: "The target rejects the key, or needs one.",
                when: "A hub returns 401 or 403, or the URL of a server is given without a key.",
                fix: "Copy name and key of the connection string again. Use a key with the required right: Listen to register, Send to "
                    + "send, Manage to list."),
            ErrorDescription(
                "target.hub", .failure, .refusal, means: "The hub does not exist on the target.",
                when: "The hub is named by --hub, by hub in the settings, or by EntityPath in the connection string, and does not exist.",
                fix: "Correct the name. pushhost hub list shows the hubs of a PushHost."),
            ErrorDescription(
                "target.device", .failure, means: "The device has no handle for this target.",
                when: "push.device names a device on a target with real devices, and the settings have no handle under this name, or one "
                    + "of another platform.",
                fix: "Add it to pushhost.yaml: devices: alice-1: { platform: apns, handle: … }."),
            ErrorDescription(
                "target.unreachable", .failure, .refusal, means: "The target cannot be reached.",
                when: "No server listens, the name is unknown, the certificate is not trusted or is for another name, or the connection "
                    + "breaks. Requests that can be repeated safely were tried four times. details.may_be_done is true if the request "
                    + "may have been processed.",
                fix: "Follow the hint. If a send may have been processed, check before you send again."),
            ErrorDescription(
                "target.timeout", .failure, .refusal, .warning, means: "The target did not respond in time.",
                when: "The target sent no response for 30 s, or for the time set by timeout in the settings; or the --timeout of a run "
                    + "passed. It is a warning if only the outcomes of sends are missing, so that the report may be incomplete.",
                fix: "Try again later, or raise timeout. After a send, check before you send again."),
            ErrorDescription(
                "target.throttled", .failure, means: "The target throttles requests.",
                when: "It returns 429, or 403 with Retry-After, for more than 20 s; details.retry_after has the number of seconds.",
                fix: "Wait for this time. Send less often, or raise the quota of the hub."),
            ErrorDescription(
                "target.failed", .failure, .refusal, means: "The target failed to process the request.",
                when: "It returns a status of 500 or above, four times if the request may be repeated. details.may_be_done is true if a "
                    + "send may have been processed.",
                fix: "Try again later. The operator of the target can find the request by tracking_id. If a send may have been processed, "
                    + "check before you send again."),
            ErrorDescription(
                "target.refused", .failure, means: "The target rejected the request.",
                when: "It returns an error for which PushHost has no code; the message contains its text.", fix: "Follow the message."),
            ErrorDescription(
                "target.clock", .failure, .refusal, means: "The clocks of this machine and of the target differ too much.",
                when: "Signatures are valid for an hour, and the target considered one expired.",
                fix: "Correct the clock of this machine."),
            ErrorDescription(
                "target.answer", .failure, .refusal, means: "The response of the target cannot be read.",
                when: "The response is not from a notification hub or an app backend.", fix: "Check the addresses of the target."),
        ])

    static let policy = ErrorArea(
        "policy", "operations that need confirmation",
        [
            ErrorDescription(
                "policy.production", .failure, means: "A send to production was not confirmed.",
                when: "The target is marked as production in the settings, and the question was answered with no, or there was no "
                    + "terminal.",
                fix: "Run it in a terminal and answer y, or pass --yes.")
        ])
}
