import PushModel

/// Reads notifications that have not ended from the store, without rows that cannot be read.
///
/// Not thread-safe: it is part of the actor that owns the context.
struct OutboxReader {
    let context: HubContext

    /// The next notifications that have not ended, without rows that cannot be read.
    ///
    /// - Parameter last: advanced past unreadable rows.
    func unfinished(after last: inout Int64) async throws(PushError) -> [StoredNotification] {
        var limit = 256
        while true {
            do throws(PushError) {
                return try await context.store.unfinished(after: last, limit: limit)
            } catch {
                guard let sequence = error.details["sequence"]?.int else { throw error }
                // Read one by one to find the unreadable row.
                if limit == 1 { (last, limit) = (Int64(sequence), 256) } else { limit = 1 }
                if limit > 1 { reportUnreadable(error) }
            }
        }
    }

    /// The readable notifications among these numbers that have not ended.
    func readable(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        do throws(PushError) {
            return try await context.store.unfinished(sequences)
        } catch {
            guard !error.isRetryable else { throw error }
        }
        var found: [StoredNotification] = []
        for sequence in sequences {
            do throws(PushError) {
                found += try await context.store.unfinished([sequence])
            } catch {
                guard !error.isRetryable else { throw error }
                reportUnreadable(error)
            }
        }
        return found
    }

    func reportUnreadable(_ error: PushError) {
        context.environment.warn(.delivery, "skipped an unreadable notification: \(error.message)")
        context.metrics.leftOut()
    }

    /// Ends a test send of an earlier process, whose sender is gone. If the end cannot be stored, the next start tries again.
    func end(test: StoredNotification) async {
        var outcome = test.outcome
        outcome.state = .unknown
        outcome.times.endedAt = context.now
        do throws(PushError) {
            try await context.events.record(NotificationProgress(sequence: test.sequence, outcome: outcome, devices: []), of: test.origin)
        } catch {
            context.environment.warn(.delivery, "\(outcome.id): its end could not be stored: \(error.message)")
        }
    }
}
