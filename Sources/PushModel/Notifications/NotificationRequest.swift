/// A notification to send: the audience, the content, and how to send it.
package struct NotificationRequest: Sendable, Equatable {
    /// Maximum number of devices that a test send reaches, as in Azure.
    package static let testSize = 10

    package var audience: Audience
    package var content: NotificationContent
    package var options: PushOptions
    /// A test send: reaches at most ten devices, chosen at random if more match (Azure's "Send a test notification").
    package var isTest: Bool
    /// Maximum sending rate; nil: as fast as the push services accept.
    package var pace: Pace?
    /// The plan that fixes the recipients; nil: the devices registered when delivery starts.
    package var plan: PlanBinding?
    /// Maximum number of devices at the due time; nil: any number.
    package var approvedReach: ApprovedReach?

    package init(
        audience: Audience, content: NotificationContent, options: PushOptions = PushOptions(), isTest: Bool = false, pace: Pace? = nil,
        plan: PlanBinding? = nil
    ) {
        self.audience = audience
        self.content = content
        self.options = options
        self.isTest = isTest
        self.pace = pace
        self.plan = plan
    }
}
