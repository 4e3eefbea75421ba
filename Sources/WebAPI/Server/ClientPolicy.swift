/// What a hub accepts from its clients where the answer of Azure is open to mistakes: set by the operator.
package struct ClientPolicy: Sendable, Equatable {
    /// What a send with an empty or blank `ServiceBusNotification-Tags` does. A send without the header reaches everyone in any case.
    package enum EmptyTags: String, Sendable, CaseIterable {
        /// It is refused with `tags.empty`.
        case refuse
        /// It reaches everyone.
        case everyone
    }

    /// What a client whose key has the right Listen alone does by writing an installation with a `userId`.
    package enum ListenUserID: String, Sendable, CaseIterable {
        /// The device receives what is sent to that user, as in Azure.
        case accept
        /// It is refused with `installation.user_id`, unless the installation had this user and these channels before.
        case refuse
    }

    package var emptyTags: EmptyTags
    package var listenUserID: ListenUserID

    package init(emptyTags: EmptyTags = .refuse, listenUserID: ListenUserID = .accept) {
        self.emptyTags = emptyTags
        self.listenUserID = listenUserID
    }
}
