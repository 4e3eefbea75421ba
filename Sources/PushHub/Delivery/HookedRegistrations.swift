import PushModel

/// The registrations of a hub, as hooks reach them from other tasks.
protocol HookedRegistrations: Actor {
    /// For each tag, the number of rows that have it.
    func counts(of tags: [Tag], among rows: RowSet) -> [Int]
    func rowSets(of tags: [Tag]) -> [Tag: RowSet]
    /// The devices that are still registered in these rows. Retries until the hub stops, and leaves out rows that cannot be read.
    func hookedDevices(at rows: [UInt32]) async -> [HookedDevice]
}
