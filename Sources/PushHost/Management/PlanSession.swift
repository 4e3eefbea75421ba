import PushModel

/// Makes and reads plans of one hub.
struct PlanSession: Sendable {
    let client: ManagementClient
    let hub: String

    /// Devices per page.
    private static let page = 1000

    func make(_ body: JSON) async throws(PushError) -> PlanReport {
        try report(try await client.post(ManagementClient.path("hubs", hub, "plans"), body: body, timeout: Self.timeout))
    }

    func plan(_ id: String) async throws(PushError) -> PlanReport {
        try report(try await client.get(ManagementClient.path("hubs", hub, "plans", id)))
    }

    /// Calls `take` with every device of a plan, page by page.
    func devices(of id: String, _ take: ([PlannedDevice]) -> Void) async throws(PushError) {
        var continuation: String?
        repeat {
            let page = try await client.get(
                "\(ManagementClient.path("hubs", hub, "plans", id))/devices", [("top", String(Self.page)), ("continuation", continuation)])
            take((page["items"]?.array ?? []).compactMap(PlannedDevice.init(document:)))
            continuation = page["continuation"]?.string
        } while continuation != nil
    }

    /// Time limit; planning for a million devices takes seconds.
    private static let timeout: Duration = .seconds(120)

    private func report(_ json: JSON) throws(PushError) -> PlanReport {
        guard let report = PlanReportDocument(json: json).report() else {
            throw PushError(
                "control.answer", "the answer is not a plan: the server is not PushHost, or has another version",
                details: [ManagementClient.fromServer: true])
        }
        return report
    }
}
