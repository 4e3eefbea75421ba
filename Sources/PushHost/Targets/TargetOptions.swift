import ArgumentParser

/// What a flow runs against.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What the flow runs against: embedded, a name from the settings' targets, the URL of a PushHost, or a connection string, in quotes; \(Self.variable) keeps it off the list of processes. (default: embedded)",
            valueName: "target"))
    var target: String?

    @Option(help: "The hub at the target, where the target does not say which.")
    var hub: String?

    @Option(help: ArgumentHelp("The app backend; a PushHost has its own.", valueName: "url"))
    var backend: String?

    @Option(help: "Trust this certificate authority too. PEM.", completion: .file())
    var authority: String?

    @Option(help: "The file of settings that names targets and devices (default: pushhost.yaml, if there is one).", completion: .file())
    var config: String?

    @Flag(help: "Send to a target that is marked production without asking.")
    var yes = false

    static let variable = "PUSHHOST_TARGET"
}
