/// The operator's choices where Azure's behaviour is prone to mistakes.
package struct ClientPolicy: Sendable, Equatable {
    /// The effect of an empty or blank `ServiceBusNotification-Tags`. A send without the header always reaches everyone.
    package enum EmptyTags: String, Sendable, CaseIterable {
        /// Reject the send with `tags.empty`.
        case refuse
        /// Send to everyone.
        case everyone
    }

    /// The effect of writing an installation with a `userId` using a key that has only Listen.
    package enum ListenUserID: String, Sendable, CaseIterable {
        /// As in Azure, the device receives what is sent to that user.
        case accept
        /// Reject the request with `installation.user_id`, unless the installation already had this user and these channels.
        case refuse
    }

    package var emptyTags: EmptyTags
    package var listenUserID: ListenUserID

    package init(emptyTags: EmptyTags = .refuse, listenUserID: ListenUserID = .accept) {
        self.emptyTags = emptyTags
        self.listenUserID = listenUserID
    }
}
