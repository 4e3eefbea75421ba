// What a flow runs against, on another machine above all.
extension ErrorCatalogue {
    static let target = ErrorArea(
        "target", "what a flow runs against",
        [
            ErrorDescription(
                "target.unsupported", .failure, .finding, means: "The target of the run cannot do this.",
                when: "The flow asks for phones, wires, faults or the clock where they are not simulated, for an app backend that is not "
                    + "known, or for what Azure Notification Hubs does not have. pushhost check --target azure and --target pushhost say "
                    + "so before any run.",
                cure: "Put what looks at phones into push.rehearse: it is skipped where they are real. Name the backend with --backend."),
            ErrorDescription(
                "target.key", .failure, .refusal, means: "The target is not opened by this key, or by none.",
                when: "A hub answers 401 or 403 to a request, or the URL of a server is given without a key. The exit code is 4.",
                cure: "Copy name and key of the connection string again, of a rule that has the right: Listen registers, Send sends, "
                    + "Manage lists."),
            ErrorDescription(
                "target.hub", .failure, .refusal, means: "The target has no such hub.",
                when: "A hub is named that is not there: by --hub, by hub in the settings, or by EntityPath in the connection string. The "
                    + "exit code is 4.",
                cure: "Write its name as the target has it; pushhost hub list shows those of a PushHost."),
            ErrorDescription(
                "target.device", .failure, means: "The device has no handle at the target.",
                when: "push.device names a device on a target where devices are real, and the settings have no handle under that name, or "
                    + "one of another platform.",
                cure: "Add it to pushhost.yaml: devices: alice-1: { platform: apns, handle: … }."),
            ErrorDescription(
                "target.unreachable", .failure, .refusal, means: "The target does not answer.",
                when: "Nobody listens, the name is unknown, the certificate is not trusted or for another name, or the connection breaks. "
                    + "What may be done twice without harm was tried four times. details.may_be_done tells whether the request can "
                    + "have been carried out all the same.",
                cure: "Do what the hint says. After a send that may have been done, look before sending again."),
            ErrorDescription(
                "target.timeout", .failure, .refusal, .warning, means: "The target took the request and did not answer in time.",
                when: "Nothing comes for 30 s, or what timeout in the settings says; or the --timeout of a run is over.",
                cure: "Try again later; allow more with timeout. After a send, look before sending again."),
            ErrorDescription(
                "target.throttled", .failure, means: "The target asks to be left alone for a while.",
                when: "It answers 429, or 403 with Retry-After, and asks for more patience than 20 s; details.retry_after has the seconds.",
                cure: "Wait as long; send less often, or raise the quota of the hub."),
            ErrorDescription(
                "target.failed", .failure, .refusal, means: "The target failed.",
                when: "It answers with 500 and above, four times where the request may be made again. details.may_be_done tells "
                    + "whether a send can have gone out all the same.",
                cure: "Try again later; its operator finds the request by tracking_id. After a send that may have been done, look before "
                    + "sending again."),
            ErrorDescription(
                "target.refused", .failure, means: "The target refused the request.",
                when: "It answers with a status that has no code of its own here; the message has its words.", cure: "Do as it says."),
            ErrorDescription(
                "target.clock", .failure, .refusal, means: "The clocks of this machine and of the target are too far apart.",
                when: "A signature holds for an hour; the target took it for one that has ended.",
                cure: "Set the clock of this machine."),
            ErrorDescription(
                "target.answer", .failure, .refusal, means: "The answer cannot be read.",
                when: "What answers is no notification hub, or no app backend.", cure: "Check the addresses of the target."),
        ])

    static let policy = ErrorArea(
        "policy", "what is not done without being asked",
        [
            ErrorDescription(
                "policy.production", .failure, means: "A send to production was not confirmed.",
                when: "The target is marked production in the settings, and the question was answered with no, or nobody could be asked.",
                cure: "Run it on a terminal and answer y, or say --yes.")
        ])
}
