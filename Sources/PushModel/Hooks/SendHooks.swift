/// The hooks that a hub calls for each notification.
package protocol SendHooks: HookPhases {
    /// Called before a notification is accepted. The returned draft is accepted instead.
    func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft

    /// Called after a notification has been accepted.
    func afterSend(_ sent: SentNotification) async

    /// Called for the devices of one platform before delivery. If it throws, no device of the group receives the notification, and the
    /// error explains their outcomes.
    func beforeDeliver(_ group: any HookedGroup) async throws(PushError)

    /// Called after a notification has ended and its result has been stored.
    func onOutcome(_ ended: EndedNotification) async
}
