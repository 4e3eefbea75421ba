import Synchronization

/// Writes the audit log: who did what.
///
/// An action is logged before its result is returned. If the entry cannot be stored, the action stands, because it cannot be undone, and
/// `onFailure` is called. Actions that must not happen without an entry call `require` first.
package final class AuditLog: Sendable {
    package let trail: any AuditTrail
    private let clock: any HubClock
    private let onFailure: @Sendable (AuditRecord, PushError) -> Void
    private let floods = Mutex(LoginFloods())

    /// Maximum number of entries per source and window for frequent actions. Further ones are counted and logged as one entry.
    package static let maximumInWindow = 60
    package static let window: Duration = .seconds(60)
    /// Maximum length of a logged text, in characters.
    package static let longestText = 1000

    /// - Parameter onFailure: called for entries that could not be stored.
    package init(
        trail: any AuditTrail, clock: any HubClock, onFailure: @escaping @Sendable (AuditRecord, PushError) -> Void = { _, _ in }
    ) {
        (self.trail, self.clock, self.onFailure) = (trail, clock, onFailure)
    }

    /// Logs a completed action.
    package func note(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String] = [:],
        outcome: AuditRecord.Outcome = .succeeded
    ) async {
        await save(record(principal, action, subject, details, outcome))
    }

    /// Logs an action that is about to be done. Throws `storage.unavailable` (503) if the entry cannot be stored; the action must not be
    /// done then.
    package func require(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String] = [:]
    ) async throws(PushError) {
        _ = try await trail.append(record(principal, action, subject, details, .succeeded))
    }

    /// Like `note`, for actions that may come in thousands: the first of a minute get entries; further ones are counted and logged as one
    /// entry.
    package func noteOften(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String] = [:],
        outcome: AuditRecord.Outcome = .succeeded
    ) async {
        let source = LoginFloods.Source(principal: principal, action: action, outcome: outcome)
        let (isWanted, over) = floods.withLock { $0.take(source, now: clock.now) }
        if let over { await save(record(over)) }
        if isWanted { await note(principal, action, subject, details, outcome: outcome) }
    }

    /// Logs the counts of windows that have ended; with `all`, of every window. Called periodically, and at shutdown with `all`.
    package func flush(all: Bool = false) async {
        let over = floods.withLock { $0.over(all ? nil : clock.now) }
        for flood in over { await save(record(flood)) }
    }

    private func save(_ record: AuditRecord) async {
        do throws(PushError) {
            _ = try await trail.append(record)
        } catch {
            onFailure(record, error)
        }
    }

    private func record(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String], _ outcome: AuditRecord.Outcome
    ) -> AuditRecord {
        AuditRecord(
            time: clock.now, actor: principal.description, action: action.rawValue, subject: subject.shortened,
            details: details.mapValues(\.shortened), outcome: outcome)
    }

    private func record(_ flood: LoginFloods.Flood) -> AuditRecord {
        record(
            flood.source.principal, flood.source.action, "\(flood.count) more like these",
            ["further": String(flood.count), "since": flood.since.description], flood.source.outcome)
    }
}

/// Windows of frequent actions, by principal, action and outcome.
private struct LoginFloods {
    struct Source: Hashable {
        let principal: Principal
        let action: AuditAction
        let outcome: AuditRecord.Outcome
    }

    struct Flood {
        let source: Source
        let count: Int
        let since: Timestamp
    }

    private struct Window {
        var start: Timestamp
        var written = 0
        var counted = 0
    }

    private var windows: [Source: Window] = [:]

    /// Whether this action gets its own entry, and the count of a window that has just ended.
    mutating func take(_ source: Source, now: Timestamp) -> (isWanted: Bool, over: Flood?) {
        var window = windows[source] ?? Window(start: now)
        var over: Flood?
        // A new window also starts if the clock was set back.
        if now >= window.start + AuditLog.window || now < window.start {
            if window.counted > 0 { over = Flood(source: source, count: window.counted, since: window.start) }
            window = Window(start: now)
        }
        let isWanted = window.written < AuditLog.maximumInWindow
        if isWanted { window.written += 1 } else { window.counted += 1 }
        windows[source] = window
        return (isWanted, over)
    }

    /// Removes windows that have ended, or all of them for nil, and returns those with counts.
    mutating func over(_ now: Timestamp?) -> [Flood] {
        var over: [Flood] = []
        for (source, window) in windows {
            if let now, now < window.start + AuditLog.window, now >= window.start { continue }
            windows[source] = nil
            if window.counted > 0 { over.append(Flood(source: source, count: window.counted, since: window.start)) }
        }
        return over.sorted {
            ($0.source.principal.description, $0.source.action.rawValue) < ($1.source.principal.description, $1.source.action.rawValue)
        }
    }
}

extension String {
    fileprivate var shortened: String {
        unicodeScalars.count <= AuditLog.longestText ? self : "\(String(unicodeScalars.prefix(AuditLog.longestText - 1)))…"
    }
}
