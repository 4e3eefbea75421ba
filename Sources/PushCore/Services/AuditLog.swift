import Synchronization

/// Writes down who did what.
///
/// What has been done is written down before it is answered. Where that cannot be kept the work stands, for it cannot be taken back,
/// and whoever watches is told. What must not be done without its entry asks first (`require`).
package final class AuditLog: Sendable {
    package let trail: any AuditTrail
    private let clock: any HubClock
    private let onFailure: @Sendable (AuditRecord, PushError) -> Void
    private let floods = Mutex(Floods())

    /// Of what comes in floods, most entries for each who and what in a window; what is beyond them is counted.
    package static let mostInWindow = 60
    package static let window: Duration = .seconds(60)
    /// Of a text, most characters that are kept.
    package static let longestText = 1000

    /// - Parameter onFailure: told of what could not be kept.
    package init(
        trail: any AuditTrail, clock: any HubClock, onFailure: @escaping @Sendable (AuditRecord, PushError) -> Void = { _, _ in }
    ) {
        (self.trail, self.clock, self.onFailure) = (trail, clock, onFailure)
    }

    /// Writes down what was done.
    package func note(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String] = [:],
        outcome: AuditRecord.Outcome = .succeeded
    ) async {
        await keep(record(principal, action, subject, details, outcome))
    }

    /// Writes down what is about to be done. Throws `storage.unavailable` (503) where it cannot be kept: then it is not to be done.
    package func require(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String] = [:]
    ) async throws(PushError) {
        _ = try await trail.append(record(principal, action, subject, details, .succeeded))
    }

    /// The same as `note` of what may come by thousands: the first of a minute have their entries, those beyond are counted and come as
    /// one entry.
    package func noteOften(
        _ principal: Principal, _ action: AuditAction, _ subject: String, _ details: [String: String] = [:],
        outcome: AuditRecord.Outcome = .succeeded
    ) async {
        let source = Floods.Source(principal: principal, action: action, outcome: outcome)
        let (isWanted, over) = floods.withLock { $0.take(source, now: clock.now) }
        if let over { await keep(record(over)) }
        if isWanted { await note(principal, action, subject, details, outcome: outcome) }
    }

    /// Writes down what was only counted and is over; called from time to time, and for all of it at the end.
    package func flush(all: Bool = false) async {
        let over = floods.withLock { $0.over(all ? nil : clock.now) }
        for flood in over { await keep(record(flood)) }
    }

    private func keep(_ record: AuditRecord) async {
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

    private func record(_ flood: Floods.Flood) -> AuditRecord {
        record(
            flood.source.principal, flood.source.action, "\(flood.count) more like these",
            ["further": String(flood.count), "since": flood.since.description], flood.source.outcome)
    }
}

/// What comes often, by who does what.
private struct Floods {
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

    /// Whether one more has an entry of its own, and what was counted before.
    mutating func take(_ source: Source, now: Timestamp) -> (isWanted: Bool, over: Flood?) {
        var window = windows[source] ?? Window(start: now)
        var over: Flood?
        // Also where somebody has set the clock back.
        if now >= window.start + AuditLog.window || now < window.start {
            if window.counted > 0 { over = Flood(source: source, count: window.counted, since: window.start) }
            window = Window(start: now)
        }
        let isWanted = window.written < AuditLog.mostInWindow
        if isWanted { window.written += 1 } else { window.counted += 1 }
        windows[source] = window
        return (isWanted, over)
    }

    /// Windows that have ended, all of them for nil; they are forgotten.
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
