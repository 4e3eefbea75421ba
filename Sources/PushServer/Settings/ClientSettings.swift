import PushModel
import WebAPI

extension ServerSettings {
    /// Settings for what hubs accept from clients. In a file whose key `hub` names the first hub (`hub: news`), write them with dots
    /// (`hub.empty_tags: everyone`).
    static let clientSettings: [Setting] = [
        Setting(
            "hub.empty_tags", .choice(ClientPolicy.EmptyTags.allCases.map(\.rawValue)),
            "Effect of a send with an empty `ServiceBusNotification-Tags`: `refuse` answers 400, `everyone` sends it to every device.",
            default: "refuse"
        ) { $0.clients.emptyTags = ClientPolicy.EmptyTags(rawValue: $1.text) ?? .refuse },
        Setting(
            "hub.listen_user_id", .choice(ClientPolicy.ListenUserID.allCases.map(\.rawValue)),
            "Effect of an installation with a `userId` from a key with only Listen: `accept` stores it, as Azure does; `refuse` "
                + "returns 403 unless it had this `userId` and these channels before.",
            default: "accept"
        ) { $0.clients.listenUserID = ClientPolicy.ListenUserID(rawValue: $1.text) ?? .accept },
    ]
}
