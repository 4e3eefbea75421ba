/// Receives the stored data of a hub row by row, on the store's own thread or queue.
///
/// If it throws for a row, the store reports that row as unreadable and continues with the next.
package protocol StoredHubReader: StoredRegistrationReader {
    mutating func add(_ installation: InstallationRow) throws(PushError)
    mutating func add(_ tombstone: RegistrationTombstone, of id: RegistrationID)
    /// Reports an unreadable row. The hub is loaded without it and does not reuse its row number.
    mutating func add(_ row: UnreadableRow)
    /// The last call. `lastSequence` is the largest sequence that a notification ever had; 0 if there never was one.
    mutating func end(lastSequence: Int64)
}
