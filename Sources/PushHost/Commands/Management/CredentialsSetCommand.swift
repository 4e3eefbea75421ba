import ArgumentParser
import Delivery
import FoundationEssentials
import PushModel
import PushRuntime

struct CredentialsSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set a push credential of a hub.",
        discussion: """
            The credential is validated before it is stored; pushhost hub credentials check then tests it with the push service. Secrets \
            are read from files, from standard input (-) or from the terminal, never from arguments, which other users can see.

            Example: pushhost hub credentials set fcm news --service-account key.json
            """,
        subcommands: [SetAPNsCommand.self, SetFCMCommand.self, SetWNSCommand.self, SetWebPushCommand.self])
}

struct SetAPNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns", abstract: "Set an APNs signing key (.p8) or certificate (.p12) from Apple's developer account.",
        discussion: """
            Example: pushhost hub credentials set apns news --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --topic com.example.app
            """)

    enum Environment: String, ExpressibleByArgument, CaseIterable { case production, development }

    @Option(help: ArgumentHelp("Signing key file: AuthKey_ID.p8.", valueName: "file"), completion: .file(extensions: ["p8"]))
    var key: String?

    @Option(help: ArgumentHelp("Id of the signing key. (default: the id in the file's name)", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("Id of the team in Apple's developer account.", valueName: "id"))
    var teamID: String?

    @Option(
        help: ArgumentHelp("Certificate file (.p12) with its private key, instead of a signing key.", valueName: "file"),
        completion: .file(extensions: ["p12"]))
    var certificate: String?

    @Option(
        help: ArgumentHelp(
            "File with the password of the .p12 file, - for standard input; asked for on the terminal by default.", valueName: "file"),
        completion: .file())
    var passwordFile: String?

    @Option(help: ArgumentHelp("Bundle id of the app. (default: that of the certificate)", valueName: "bundle-id"))
    var topic: String?

    @Option(
        help: ArgumentHelp("APNs environment of the app's tokens. (default: that of the certificate, or production)", valueName: "name"))
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
                    "usage.value", key == nil ? "missing option --key or --certificate" : "--key and --certificate cannot be combined",
                    hint: "pass one of them")
            }
        }
    }

    private func token(_ path: String) async throws(PushError) -> [(String, String?)] {
        if passwordFile != nil { throw PushError("usage.value", "--password-file needs --certificate", hint: "remove it") }
        let needed = [("--team-id", teamID), ("--topic", topic)].filter { $0.1 == nil }.map(\.0)
        guard needed.isEmpty else {
            throw PushError(
                "usage.value", "--key needs \(needed.joined(separator: " and "))", hint: "find them in Apple's developer account")
        }
        guard let keyID = keyID ?? Self.id(inName: path) else {
            throw PushError(
                "usage.value", "unknown id of the signing key", hint: "pass --key-id; Apple names the file AuthKey_ID.p8")
        }
        let text = try await SecretFile(option: "--key", name: "signing key").key(path)
        return [
            ("key", text), ("keyId", keyID), ("teamId", teamID), ("topic", topic), ("environment", environment?.rawValue),
        ]
    }

    /// The key id in a file name such as `AuthKey_ABC123DEFG.p8`.
    private static func id(inName path: String) -> String? {
        (path.split(separator: "/").last?.wholeMatch(of: /AuthKey_([0-9A-Za-z]{10})\.p8/)?.1).map(String.init)
    }

    private func identity(_ path: String) async throws(PushError) -> [(String, String?)] {
        for (option, value) in [("--key-id", keyID), ("--team-id", teamID)] where value != nil {
            throw PushError("usage.value", "\(option) needs --key", hint: "remove it")
        }
        let file = try await SecretFile(option: "--certificate", name: "certificate").bytes(path)
        let input = SecretFile(option: "--password-file", name: "password of the .p12 file")
        // Without a terminal the password is left out, because some files have none. The server rejects the file if it needs one.
        let password = passwordFile == nil && !PasswordPrompt().canAsk ? nil : try await input.line(passwordFile)
        return [
            ("certificate", Data(file).base64EncodedString()), ("password", password?.reveal()), ("topic", topic),
            ("environment", environment?.rawValue),
        ]
    }
}

struct SetFCMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm", abstract: "Set a service account of the Firebase project.",
        discussion: "Example: pushhost hub credentials set fcm news --service-account key.json")

    @Option(
        help: ArgumentHelp("JSON file with the account's key, - for standard input.", valueName: "file"),
        completion: .file(extensions: ["json"]))
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
        commandName: "wns", abstract: "Set the package SID and client secret of an app in the Microsoft Store.",
        discussion: "Example: pushhost hub credentials set wns news --package-sid ms-app://s-1-15-2-1 --client-secret-file secret.txt")

    @Option(help: ArgumentHelp("Package SID of the app.", valueName: "ms-app://…"))
    var packageSID: String

    @Option(
        help: ArgumentHelp("File with the client secret, - for standard input; asked for on the terminal by default.", valueName: "file"),
        completion: .file())
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
        abstract: "Set the VAPID key for Web Push.",
        discussion: """
            Web apps subscribe with the public key. Existing subscriptions with another key no longer work.

            Example: pushhost hub credentials set webpush news --subject mailto:ops@example.com --generate
            """)

    @Option(help: ArgumentHelp("Contact address for the push services.", valueName: "mailto:…"))
    var subject: String

    @Option(
        help: ArgumentHelp("File with the private key, PEM or 32 bytes in base64url; - for standard input.", valueName: "file"),
        completion: .file())
    var key: String?

    @Flag(help: "Generate a new key.")
    var generate = false

    @Flag(help: "Do not ask for confirmation before replacing a key.")
    var yes = false

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.set(.browser) { client, hub, path throws(PushError) in
            guard (key == nil) == generate else {
                throw PushError(
                    "usage.value", generate ? "--key and --generate cannot be combined" : "missing option --key or --generate",
                    hint: "pass one of them")
            }
            if let key { return try await body(SecretFile(option: "--key", name: "private key").key(key)) }
            let isReplaced = try await client.allItems(path).contains {
                $0["platform"]?.string == Platform.browser.shortName && $0["source"]?.string == "hub"
            }
            if isReplaced {
                try await ManagementSession(isJSON: options.server.json).confirm(
                    "This replaces the VAPID key of hub \"\(hub)\"", "Existing subscriptions stop working", isPreconfirmed: yes)
            }
            return body(WebPushSettings.newKey().reveal())
        }
    }

    private func body(_ key: String) -> [(String, String?)] { [("subject", subject), ("privateKey", key)] }
}
