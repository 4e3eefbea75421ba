import Synchronization

/// Notices by rate that a credential and the handles it is used for do not belong together: settings for production and tokens of the
/// sandbox, or another app's. One for a platform and its credential; notifications share it.
///
/// As long as half of the answers or more say so, no handle is taken for dead: whoever asks in the wrong place is told anything. Of the
/// first few answers of a credential the same holds, for nobody knows more.
final class MixUpGauge: Sendable {
    /// Answers that are needed to say it aloud.
    static let least = 20
    /// Answers that are remembered, those of before counting half as often each time that so many have come.
    static let memory = 1000

    enum News: Sendable, Equatable {
        /// In words, what is mixed up, and what to do.
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

    /// Told what a service answered for devices. What says nothing of a handle does not count.
    func note(_ verdicts: [Verdict], now: Timestamp) -> News? {
        var (answers, suspicious, words) = (0, 0, String?.none)
        for verdict in verdicts {
            switch verdict {
            case .accepted: answers += 1
            case .rejected(let rejection):
                answers += 1
                if let text = rejection.mixUp { (suspicious, words) = (suspicious + 1, text) }
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
                // Far enough from where it began, so that it is not said again and again.
                guard state.suspicious * 4 < state.answers else { return nil }
                state.since = nil
                return .over
            }
            guard state.answers >= Self.least, state.suspicious * 2 >= state.answers else { return nil }
            state.since = now
            return .suspected(state.words)
        }
    }

    /// Whether a handle that is called dead is to be believed dead.
    var isTrusted: Bool {
        state.withLock { $0.since == nil && ($0.suspicious == 0 || $0.suspicious * 2 < $0.answers) }
    }

    /// What is mixed up, and since when; nil as long as nothing is suspected.
    var suspicion: (words: String, since: Timestamp)? {
        state.withLock { state in state.since.map { (state.words, $0) } }
    }
}
