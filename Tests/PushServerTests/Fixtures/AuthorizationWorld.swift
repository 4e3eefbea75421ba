import Foundation
import PushModel

/// Settings, keys and documents of the server of `AuthorizationBench`.
enum AuthorizationWorld {
    /// The rules of `hub`, with the keys from 1 on. Their names begin with `hub-`.
    static let hubRules: [(name: String, rights: [String])] = [
        ("listen", ["Listen"]), ("send", ["Send"]), ("manage", ["Listen", "Manage", "Send"]),
    ]

    /// The rules of the server, with their rights as JSON. `gone` is deleted.
    static let serverRules: [(name: String, rights: String)] = [
        ("listen", #"["Listen"]"#), ("send", #"["Send"]"#), ("manage", #"["Listen", "Manage", "Send"]"#), ("asker", #"["Send"]"#),
        ("gone", #"["Listen", "Manage", "Send"]"#),
    ]

    static func key(_ number: Int) -> Secret { Secret(Data(repeating: UInt8(number), count: 32).base64EncodedString()) }

    /// Sends to more than one device need approval.
    static func settings(in folder: String) -> String {
        let flows = ["send", "listen", "manage", "account", "open"].map { "  - { name: \($0), script: \(folder)/flow.lua, http: \($0) }" }
        return """
            data: \(folder)/data
            lab: on
            plugins: \(folder)/plugins
            jobs: { folders: [\(folder)/jobs] }
            guard: { ceiling: 1 }
            flows:
            \(flows.joined(separator: "\n"))
              - { name: none, script: \(folder)/flow.lua, events: [token.expired] }
            """
    }

    static let plugin = """
        local function run() return { json = { ok = true } } end
        return {
          name = "matrix", version = "1.0",
          routes = {
            { path = "/listen", auth = { sas = "listen" }, run = run },
            { path = "/send", auth = { sas = "send" }, run = run },
            { path = "/manage", auth = { sas = "manage" }, run = run },
            { path = "/account", auth = "account", run = run },
            { path = "/open", auth = "open", run = run },
            { path = "/hook", method = "POST", auth = { webhook = "HOOK" }, run = run },
          },
        }
        """

    /// What placeholders stand for from the start.
    /// - Parameter jobs: The folder that jobs may write.
    static func values(jobs: String) -> [String: String] {
        [
            "hub": "hub", "name": "spare", "flow": "manage", "hidden": "none", "tag": "one", "service": "apns",
            "hubXML": hubXML(hubRules.enumerated().map { ("hub-\($1.name)", $1.rights, $0 + 1) }),
            "otherHubXML": hubXML([("other", ["Listen", "Manage", "Send"], 4)]), "emptyHubXML": hubXML([]),
            "registrationXML": registrationXML("two", "03"), "otherRegistrationXML": registrationXML("three", "05"),
            "jobXML": entry(
                "NotificationHubJob",
                "<Type>ExportRegistrations</Type><OutputContainerUri>file://\(jobs)</OutputContainerUri>"),
            "sendLaterJSON": #"{"audience": {"tagExpression": "one"}, "message": {"message": "Hi"}, "at": "{soon}"}"#,
            "largeSendJSON":
                #"{"audience": {"tagExpression": "all"}, "native": {"apns": {"payload": {"aps": {"alert": "{new}"}}}}}"#,
            "padJSON": #"{"installationId": "pad", "platform": "apns", "pushChannel": "{handle}01", "tags": ["one", "all"]}"#,
            "podJSON": #"{"installationId": "pod", "platform": "apns", "pushChannel": "{handle}02", "tags": ["all"]}"#,
            "handle": handle, "batch": batch,
        ]
    }

    /// Placeholders that stand for a document or for a part of one, not for an object.
    static let documents: Set<String> = [
        "hub", "service", "hubXML", "otherHubXML", "emptyHubXML", "registrationXML", "otherRegistrationXML", "jobXML", "sendLaterJSON",
        "largeSendJSON", "padJSON", "podJSON", "handle", "batch",
    ]

    /// All digits of a handle but the last two.
    private static let handle = "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEE"

    private static func entry(_ name: String, _ content: String) -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">"#
            + #"<\#(name) xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\#(content)</\#(name)>"#
            + "</content></entry>"
    }

    private static func registrationXML(_ tag: String, _ digits: String) -> String {
        entry("AppleRegistrationDescription", "<Tags>\(tag)</Tags><DeviceToken>\(handle)\(digits)</DeviceToken>")
    }

    private static func hubXML(_ rules: [(name: String, rights: [String], key: Int)]) -> String {
        let rules = rules.map { rule in
            "<AuthorizationRule><Rights>" + rule.rights.map { "<AccessRights>\($0)</AccessRights>" }.joined()
                + "</Rights><KeyName>\(rule.name)</KeyName><PrimaryKey>\(key(rule.key).reveal())</PrimaryKey>"
                + "<SecondaryKey>\(key(rule.key + 100).reveal())</SecondaryKey></AuthorizationRule>"
        }
        return entry("NotificationHubDescription", "<AuthorizationRules>\(rules.joined())</AuthorizationRules>")
    }

    private static let batch = [
        "--b", "Content-Type: application/json", "Content-Disposition: inline; name=notification", "", #"{"aps":{"alert":"Hi"}}"#, "--b",
        "Content-Type: application/json", "Content-Disposition: inline; name=devices", "", #"["\#(handle)01"]"#, "--b--", "",
    ].joined(separator: "\r\n")
}
