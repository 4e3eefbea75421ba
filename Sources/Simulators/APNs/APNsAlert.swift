/// The part of an `aps` dictionary that is shown to the user (Apple, "Generating a remote notification").
struct APNsAlert {
    private let aps: JSONValue
    private let strings: [String: String]

    /// - Parameter strings: The app's localised texts. A key that is missing here is shown itself.
    init(aps: JSONValue, strings: [String: String]) {
        self.aps = aps
        self.strings = strings
    }

    /// The banner; `nil` if there is no `alert`.
    var banner: Banner? {
        guard let alert = aps["alert"] else { return nil }
        var banner = Banner(sound: sound, category: aps["category"]?.string)
        if let text = alert.string {
            banner.body = text
        } else {
            banner.title = text(of: alert, "title", key: "title-loc-key", arguments: "title-loc-args")
            banner.subtitle = text(of: alert, "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
            banner.body = text(of: alert, "body", key: "loc-key", arguments: "loc-args")
        }
        return banner
    }

    private var sound: String? { aps["sound"]?.string ?? aps["sound"]?["name"]?.string }

    private func text(of alert: JSONValue, _ plain: String, key: String, arguments: String) -> String {
        guard let key = alert[key]?.string else { return alert[plain]?.string ?? "" }
        return LocalizedText.text(
            forKey: key, arguments: alert[arguments]?.elements?.map { $0.string ?? $0.text } ?? [], in: strings)
    }
}
