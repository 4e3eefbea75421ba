import PushModel

/// The targets of a send as they were found when it was checked. They travel with the send, so that they are found once.
struct ResolvedTargets: Sendable {
    let targets: Targets
    private let audience: Audience
    /// Platforms with a payload; nil for a template send.
    private let platforms: Set<Platform>?
    /// The revision of the table in which they were found.
    private let revision: UInt64

    init(_ targets: Targets, of request: NotificationRequest, revision: UInt64) {
        (self.targets, audience, platforms, self.revision) = (targets, request.audience, request.content.platforms, revision)
    }

    /// Whether the request has the same targets in a table of this revision.
    func fits(_ request: NotificationRequest, _ revision: UInt64) -> Bool {
        self.revision == revision && request.plan == nil && platforms == request.content.platforms && audience == request.audience
    }
}

extension NotificationContent {
    fileprivate var platforms: Set<Platform>? {
        switch self {
        case .template: nil
        case .native(let payloads): Set(payloads.keys)
        }
    }
}
