import ArgumentParser

/// The options that select the target of a flow.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Target of the flow: embedded, a name from the settings' targets, the URL of a PushHost, or a quoted connection string; set \(Self.variable) to keep it off the list of processes. (default: embedded)",
            valueName: "target"))
    var target: String?

    @Option(help: "Hub at the target, if the target does not name one.")
    var hub: String?

    @Option(help: ArgumentHelp("App backend; a PushHost has its own.", valueName: "url"))
    var backend: String?

    @Option(help: "Additional certificate authority to trust, in PEM.", completion: .file())
    var authority: String?

    @Option(help: "Settings file with targets and devices (default: pushhost.yaml, if it exists).", completion: .file())
    var config: String?

    @Flag(help: "Send to a target that is marked production without asking.")
    var yes = false

    static let variable = "PUSHHOST_TARGET"
}
