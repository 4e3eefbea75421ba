import PushModel
import Synchronization

/// Detects from the share of rejections that a credential and its handles do not belong together, for example production settings and
/// sandbox tokens, or tokens of another app. One per platform and credential, shared by all notifications.
///
/// While at least half of the answers suggest that, no handle is considered invalid: answers of the wrong environment are unreliable. This
/// applies from the first answers for a credential.
final class WrongEnvironmentDetector: Sendable {
    /// Number of answers needed to report a suspicion.
    static let least = 20
    /// Number of answers remembered. Beyond it, the counts are halved, so that older answers weigh less.
    static let memory = 1000

    enum Event: Sendable, Equatable {
        /// What does not belong together, and what to do, as text.
        case suspected(String)
        case over
    }

    private struct State {
        var answers = 0
        var suspicious = 0
        var words = ""
        var since: Timestamp?
    }

    private let state = Mutex(State())

    /// Records the verdicts of a push service. Verdicts that say nothing about a handle do not count.
    func note(_ verdicts: [Verdict], now: Timestamp) -> Event? {
        var (answers, suspicious, words) = (0, 0, String?.none)
        for verdict in verdicts {
            switch verdict {
            case .accepted: answers += 1
            case .rejected(let rejection):
                answers += 1
                if let text = rejection.wrongEnvironment { (suspicious, words) = (suspicious + 1, text) }
            case .transient, .unknown: break
            }
        }
        guard answers > 0 else { return nil }
        return state.withLock { state in
            state.answers += answers
            state.suspicious += suspicious
            if let words { state.words = words }
            while state.answers > Self.memory {
                state.answers /= 2
                state.suspicious /= 2
            }
            guard state.since == nil else {
                // Well below the threshold that it started at, so that the two reports do not alternate.
                guard state.suspicious * 4 < state.answers else { return nil }
                state.since = nil
                return .over
            }
            guard state.answers >= Self.least, state.suspicious * 2 >= state.answers else { return nil }
            state.since = now
            return .suspected(state.words)
        }
    }

    /// Whether a report that a handle is invalid can be trusted.
    var isTrusted: Bool {
        state.withLock { $0.since == nil && ($0.suspicious == 0 || $0.suspicious * 2 < $0.answers) }
    }

    /// What does not belong together, and since when; nil if there is no suspicion.
    var suspicion: (words: String, since: Timestamp)? {
        state.withLock { state in state.since.map { (state.words, $0) } }
    }
}
