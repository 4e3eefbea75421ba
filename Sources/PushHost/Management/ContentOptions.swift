import ArgumentParser

/// The content of a notification: a text and properties of a template notification, or native payloads.
struct ContentOptions: ParsableArguments {
    @Argument(help: "Text of the notification.")
    var text: String?

    @Option(help: ArgumentHelp("Template property; may be repeated.", valueName: "name=value"))
    var message: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Native payloads: a platform and a file for each.", valueName: "platform file"),
        completion: .file())
    var native: [String] = []
}
