import ArgumentParser

/// The recipients of a notification by their tags. The flag for all devices is an option of each command, which explains what it does.
struct AudienceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Tag expression that selects the recipients, such as 'sports && !quiet'.", valueName: "tags"))
    var to: String?

    /// Throws `usage.value` if there are tags and the flag for all devices, or if the tag expression is empty.
    func check(broadcast: Bool) throws {
        guard !(broadcast && to != nil) else {
            throw ValidationError.usage("--to and --broadcast cannot be combined", hint: "remove one of them")
        }
        guard to.map({ !$0.allSatisfy(\.isWhitespace) }) ?? true else {
            throw ValidationError.usage("--to is empty", hint: "write a tag expression, or use --broadcast for every device")
        }
    }
}
