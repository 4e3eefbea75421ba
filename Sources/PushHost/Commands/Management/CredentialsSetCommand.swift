import ArgumentParser
import Delivery
import FoundationEssentials
import PushCore

struct CredentialsSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Give a hub a credential of its own.",
        discussion: """
            What can be known of it is looked at before anything is kept; ask the push service itself with pushhost hub credentials \
            check. Secrets come from files, from standard input for -, or are asked for on the terminal: they are never arguments, \
            which any list of processes would show.
            """,
        subcommands: [SetAPNsCommand.self, SetFCMCommand.self, SetWNSCommand.self, SetWebPushCommand.self])
}

struct SetAPNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns", abstract: "A signing key (.p8), or a certificate (.p12), of Apple's developer account.")

    enum Environment: String, ExpressibleByArgument, CaseIterable { case production, development }

    @Option(help: "The signing key: AuthKey_ID.p8.", completion: .file(extensions: ["p8"]))
    var key: String?

    @Option(help: "The id of the signing key; by default that in the name of its file.")
    var keyID: String?

    @Option(help: "The id of the team.")
    var teamID: String?

    @Option(help: "A certificate with its key in place of a signing key: a .p12 file.", completion: .file(extensions: ["p12"]))
    var certificate: String?

    @Option(
        help: "A file with the password of the .p12 file, - for standard input; asked for on a terminal if absent.", completion: .file())
    var passwordFile: String?

    @Option(help: "The app's bundle id; by default that of the certificate.")
    var topic: String?

    @Option(help: "Where the app's devices are registered; by default what the certificate says, or else production.")
    var environment: Environment?

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.set(.apns) { () throws(PushError) in
            switch (key, certificate) {
            case (let key?, nil): try await token(key)
            case (nil, let certificate?): try await identity(certificate)
            default:
                throw PushError(
                    "usage.value", "--key and --certificate are \(key == nil ? "both missing" : "both given")", hint: "give one of them")
            }
        }
    }

    private func token(_ path: String) async throws(PushError) -> [(String, String?)] {
        if passwordFile != nil { throw PushError("usage.value", "--password-file belongs to --certificate", hint: "leave it out") }
        let needed = [("--team-id", teamID), ("--topic", topic)].filter { $0.1 == nil }.map(\.0)
        guard needed.isEmpty else {
            throw PushError(
                "usage.value", "--key needs \(needed.joined(separator: " and ")) beside it", hint: "see Apple's developer account")
        }
        guard let keyID = keyID ?? Self.id(inName: path) else {
            throw PushError(
                "usage.value", "the id of the signing key is not known", hint: "give --key-id; Apple calls the file AuthKey_ID.p8")
        }
        let text = try await SecretFile(option: "--key", name: "signing key").key(path)
        return [
            ("key", text), ("keyId", keyID), ("teamId", teamID), ("topic", topic), ("environment", environment?.rawValue),
        ]
    }

    /// `AuthKey_ABC123DEFG.p8`
    private static func id(inName path: String) -> String? {
        (path.split(separator: "/").last?.wholeMatch(of: /AuthKey_([0-9A-Za-z]{10})\.p8/)?.1).map(String.init)
    }

    private func identity(_ path: String) async throws(PushError) -> [(String, String?)] {
        for (option, value) in [("--key-id", keyID), ("--team-id", teamID)] where value != nil {
            throw PushError("usage.value", "\(option) belongs to --key", hint: "leave it out")
        }
        let file = try await SecretFile(option: "--certificate", name: "certificate").bytes(path)
        let input = SecretFile(option: "--password-file", name: "password of the .p12 file")
        // Some have none; those that have one are refused without it.
        let password = passwordFile == nil && !PasswordPrompt().canAsk ? nil : try await input.line(passwordFile)
        return [
            ("certificate", Data(file).base64EncodedString()), ("password", password?.reveal()), ("topic", topic),
            ("environment", environment?.rawValue),
        ]
    }
}

struct SetFCMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fcm", abstract: "A service account of the Firebase project.")

    @Option(help: "The JSON file of the account's key, - for standard input.", completion: .file(extensions: ["json"]))
    var serviceAccount: String

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.set(.fcmV1) { () throws(PushError) in
            [("serviceAccount", try await SecretFile(option: "--service-account", name: "service account").text(serviceAccount))]
        }
    }
}

struct SetWNSCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wns", abstract: "The package SID and the client secret of an app in the Microsoft Store.")

    @Option(help: ArgumentHelp("The app's package SID.", valueName: "ms-app://…"))
    var packageSID: String

    @Option(help: "A file with the client secret, - for standard input; asked for on a terminal if absent.", completion: .file())
    var clientSecretFile: String?

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.set(.wns) { () throws(PushError) in
            let secret = try await SecretFile(option: "--client-secret-file", name: "client secret").line(clientSecretFile)
            return [("packageSid", packageSID), ("clientSecret", secret.reveal())]
        }
    }
}

struct SetWebPushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webpush",
        abstract: "The VAPID key that browsers' push services know the sender by.",
        discussion: "Web apps subscribe with the public key. Subscriptions that were made with another one get nothing any more.")

    @Option(help: ArgumentHelp("Whom a push service may write to.", valueName: "mailto:…"))
    var subject: String

    @Option(help: "The private key, PEM or 32 bytes in base64url; - for standard input.", completion: .file())
    var key: String?

    @Flag(help: "Make a new key.")
    var generate = false

    @Flag(help: "Do not ask before a new key takes the place of one.")
    var yes = false

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.set(.browser) { client, hub, path throws(PushError) in
            guard (key == nil) == generate else {
                throw PushError(
                    "usage.value", "--key and --generate are \(generate ? "both given" : "both missing")", hint: "give one of them")
            }
            if let key { return try await body(SecretFile(option: "--key", name: "private key").key(key)) }
            let isReplaced = try await client.allItems(path).contains {
                $0["platform"]?.string == Platform.browser.shortName && $0["source"]?.string == "hub"
            }
            if isReplaced {
                try await ManagementSession(isJSON: options.server.json).confirm(
                    "The hub \(hub) has a VAPID key; whoever has subscribed with it gets nothing any more.", isSaid: yes)
            }
            return body(WebPushSettings.newKey().reveal())
        }
    }

    private func body(_ key: String) -> [(String, String?)] { [("subject", subject), ("privateKey", key)] }
}
