/// A Web Push message that the browser shows by itself, without code of the web app (W3C, "Push API", section "Declarative push message";
/// Safari 18.4 and later): a JSON object whose `web_push` is 8030. Other browsers pass it to the service worker.
package enum DeclarativePush {
    /// The content type of the message.
    package static let contentType = "application/notification+json"

    /// Whether a body is declared as such a message.
    package static func isMeant(_ body: [UInt8]) -> Bool { json(body) != nil }

    /// Throws `payload.invalid` for a declarative message that no browser would show. Other bodies pass.
    static func check(_ body: [UInt8]) throws(PushError) {
        guard let json = json(body) else { return }
        guard let notification = json["notification"]?.object else { throw fault("its \"notification\" is not a JSON object") }
        guard notification["title"]?.string?.isEmpty == false else { throw fault("its notification has no title") }
        guard let address = notification["navigate"]?.string, ["https://", "http://"].contains(where: address.lowercased().hasPrefix)
        else { throw fault("its notification has no \"navigate\" with an absolute https:// or http:// address") }
    }

    private static func json(_ body: [UInt8]) -> JSON? {
        guard body.contains(text: "\"web_push\""), let json = try? JSON(parsing: body), json["web_push"]?.int == 8030 else {
            return nil
        }
        return json
    }

    private static func fault(_ what: String) -> PushError {
        PushError(
            "payload.invalid", "the Web Push payload says \"web_push\": 8030, and \(what): no browser would show it by itself",
            hint: #"write {"web_push": 8030, "notification": {"title": "…", "navigate": "https://…"}}, or leave "web_push" out"#,
            status: 400)
    }
}
