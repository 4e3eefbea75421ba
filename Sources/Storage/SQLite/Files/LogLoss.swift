/// Acknowledged changes that are missing from the log of a database whose process was killed. SQLite would silently continue without them.
///
/// With `synchronous=FULL` each commit is on the disk before it is acknowledged and before the index counts it. So no crash and no power
/// failure leaves a log with fewer frames than its index counts, if both have the same salts.
struct LogLoss: Equatable {
    /// What is wrong, as the rest of a sentence about the database.
    let finding: String
    /// Whether a checkpoint had copied frames to the database that are missing in the log. SQLite would then show old pages from the log
    /// with newer ones from the database.
    let isMixed: Bool

    /// Returns nil if nothing is known to be missing.
    ///
    /// - Parameters:
    ///   - path: path of the log.
    ///   - isExpected: whether a log with at least one frame must exist.
    init?(of log: WriteAheadLog, at path: String, _ index: WriteAheadLogIndex?, isExpected: Bool) {
        let counted = index?.frameCount ?? 0
        guard log.wholeFrameCount > 0 else {
            if counted > 0 {
                // Nothing is missing if a checkpoint has copied all of it.
                guard index?.isCheckpointed == false else { return nil }
            } else {
                guard isExpected, index?.isRestarted != true else { return nil }
            }
            let state = !log.exists ? "is missing" : log.size == 0 ? "is empty" : "has only \(log.size) bytes"
            finding = "was not closed, and its write-ahead log, \(path), \(state)"
            isMixed = false
            return
        }
        // With other salts the index is from another time: older after a power failure, newer if SQLite was about to restart the log.
        guard let index, index.salts == log.salts, log.frameCount < counted else { return nil }
        finding = "was not closed, and its write-ahead log, \(path), has \(log.frameCount) of \(counted) frames"
        isMixed = index.checkpointedCount > log.frameCount
    }
}
