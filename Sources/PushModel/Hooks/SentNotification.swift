/// A notification that has been accepted.
package struct SentNotification: Sendable, Equatable {
    package var id: String
    package var draft: SendDraft

    package init(id: String, draft: SendDraft) {
        self.id = id
        self.draft = draft
    }
}
