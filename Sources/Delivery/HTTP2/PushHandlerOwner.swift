/// The pool that a connection reports to.
protocol PushHandlerOwner: AnyObject {
    /// The connection accepts no more pushes; those in flight are still answered. Called again when it has returned pushes.
    func isDraining(_ handler: PushHandler)
    /// The connection has ended.
    func hasEnded(_ handler: PushHandler, why: ConnectionRefusal)
}
