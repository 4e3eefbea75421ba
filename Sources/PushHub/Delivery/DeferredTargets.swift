import PushModel

extension DeferredDevices {
    /// The deferred devices as recipients, for a notification that ends before their time.
    var groups: [(group: RecipientGroup, members: [UInt32])] {
        byPlatform.map { (RecipientGroup(platform: $0.platform), $0.devices.rows) }
    }

    /// Takes the devices that stay deferred after `now` out of the targets, with their duplicates, and returns them.
    /// - Parameter mark: identifies the registration of a row. A row that was given to another registration is not deferred any more.
    func waiting(after now: Timestamp, outOf targets: inout Targets, _ mark: (UInt32) -> UInt32) -> DeferredDevices {
        guard isPending(after: now) else { return DeferredDevices() }
        let open = Dictionary(uniqueKeysWithValues: targets.byPlatform.map { ($0.platform, RowSet($0.members)) })
        var found = withoutActuallyEscaping(mark) { pending(after: now, among: open, mark: targets.direct == nil ? $0 : nil) }
        guard !found.isEmpty else { return found }
        let pairs = targets.take(found.devices)
        found.duplicates = pairs.map(\.duplicate)
        // A handle that is listed as a duplicate would count as delivered when the other one continues.
        if targets.direct != nil { (found.duplicates, targets.duplicates) = (targets.duplicates, []) }
        return found
    }
}
