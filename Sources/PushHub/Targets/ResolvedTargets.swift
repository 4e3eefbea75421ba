import PushModel

/// The targets of a send as they were found when it was checked, admitted or approved. They travel with the send and are used again,
/// unless the send or any registration has changed meanwhile.
struct ResolvedTargets: Sendable {
    private let targets: Targets
    private let audience: Audience
    /// Platforms with a payload; nil for a template send.
    private let platforms: Set<Platform>?
    /// The id of the plan among whose devices they were found; nil for all registrations.
    private let plan: String?
    /// The revision of the table in which they were found.
    private let revision: UInt64

    /// - Parameter plan: the id of the plan among whose devices they were found; nil for all registrations.
    init(_ targets: Targets, of request: NotificationRequest, among plan: String? = nil, revision: UInt64) {
        (self.targets, audience, platforms) = (targets, request.audience, request.content.platforms)
        (self.plan, self.revision) = (plan, revision)
    }

    /// Whether the request has the same targets in a table of this revision.
    func fits(_ request: NotificationRequest, _ revision: UInt64) -> Bool {
        self.revision == revision && plan == request.plan?.id && platforms == request.content.platforms && audience == request.audience
    }

    /// The targets of the request in a table of this revision; nil if they have to be found again.
    func targets(of request: NotificationRequest, _ revision: UInt64) -> Targets? { fits(request, revision) ? targets : nil }
}

extension NotificationContent {
    fileprivate var platforms: Set<Platform>? {
        switch self {
        case .template: nil
        case .native(let payloads): Set(payloads.keys)
        }
    }
}
