import PushCore
import WebAPI

extension ServerSettings {
    /// What hubs accept from their clients. In a file that names the first hub (`hub: news`) they stand on lines of their own
    /// (`hub.empty_tags: everyone`).
    static let clientSettings: [Setting] = [
        Setting(
            "hub.empty_tags", .choice(ClientPolicy.EmptyTags.allCases.map(\.rawValue)),
            "What a send with an empty `ServiceBusNotification-Tags` does: `refuse` answers 400, `everyone` sends it to every device.",
            default: "refuse"
        ) { $0.clients.emptyTags = ClientPolicy.EmptyTags(rawValue: $1.text) ?? .refuse },
        Setting(
            "hub.listen_user_id", .choice(ClientPolicy.ListenUserID.allCases.map(\.rawValue)),
            "What happens to an installation with a `userId` from a key with Listen alone: `accept` stores it, as Azure does; `refuse` "
                + "answers 403 unless it had this `userId` and these channels before.",
            default: "accept"
        ) { $0.clients.listenUserID = ClientPolicy.ListenUserID(rawValue: $1.text) ?? .accept },
    ]
}
