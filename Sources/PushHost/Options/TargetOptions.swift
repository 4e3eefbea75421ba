import ArgumentParser

/// The options that select the target of a flow.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Target of the flow: embedded, a name from the settings' targets, the URL of a PushHost, or a quoted connection string; set \(Self.variable) to keep it out of the process list. (default: embedded)",
            valueName: "name|url"))
    var target: String?

    @Option(help: ArgumentHelp("Hub at the target, if the target does not name one.", valueName: "name"))
    var hub: String?

    @Option(help: ArgumentHelp("URL of the app backend. (default: that of the target, if it is a PushHost)", valueName: "url"))
    var backend: String?

    @Option(help: ArgumentHelp("PEM file of an additional certificate authority to trust.", valueName: "file"), completion: .file())
    var authority: String?

    @Option(
        help: ArgumentHelp("Settings file with targets and devices. (default: pushhost.yaml, if it exists)", valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(help: "Send to a production target without asking for confirmation.")
    var yes = false

    static let variable = "PUSHHOST_TARGET"
}
