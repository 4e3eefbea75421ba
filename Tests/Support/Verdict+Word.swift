import PushModel

extension Verdict {
    /// "accepted", the reason of a refusal, or "unknown" with its reason.
    package var word: String {
        switch self {
        case .accepted: "accepted"
        case .rejected(let rejection), .transient(let rejection, _): rejection.reason
        case .unknown(let reason): "unknown: \(reason)"
        }
    }
}
