import PushModel

/// Resolves the ids that commands accept: complete ids, the beginning of a notification's id, the number of a run, a plan or an approval
/// request, and `latest`. A complete id needs no request.
struct IDResolver {
    /// The word for the newest object.
    static let latest = "latest"
    /// Key in an error's details: the ids that an ambiguous one may mean.
    static let candidates = "candidates"

    /// Reads a page of a list, by its path and query.
    let get: (_ path: String, _ query: [(String, String?)]) async throws(PushError) -> JSON

    /// Number of candidates in an error.
    private static let candidatesShown = 5

    /// A text that no notification's id begins with is returned unchanged, for the server's error.
    ///
    /// Throws `usage.id` if it is the beginning of several ids, or if it is `latest` and there are no notifications.
    func notification(_ text: String, hub: String) async throws(PushError) -> String {
        let path = ManagementClient.path("hubs", hub, "notifications")
        if text == Self.latest {
            return try await newest(path, "notificationId", or: "hub \"\(hub)\" has no notifications")
        }
        guard !text.isEmpty, !NotificationID.isComplete(text) else { return text }
        let page: JSON
        do throws(PushError) {
            page = try await get(path, [("prefix", text), ("top", String(Self.candidatesShown + 1))])
        } catch  where error.code == "request.parameter" {
            // An older server, which knows only complete ids.
            return text
        }
        let ids = (page["items"]?.array ?? []).compactMap { $0["notificationId"]?.string }
        guard ids.count > 1, !ids.contains(text) else { return ids.contains(text) ? text : ids.first ?? text }
        throw Self.ambiguous("\"\(text)\" is the beginning of several ids of notifications", ids, hint: "write more of the id")
    }

    /// Throws `usage.id` if it is `latest` and there are no runs.
    func run(_ text: String) async throws(PushError) -> String {
        guard text == Self.latest else { return Self.numbered(text, "r", RunRecord.id) }
        return try await newest(ManagementClient.path("runs"), "runId", or: "the server has no runs")
    }

    /// Throws `usage.id` if it is `latest` and there are no plans.
    func plan(_ text: String, hub: String) async throws(PushError) -> String {
        guard text == Self.latest else { return Self.numbered(text, "p", PlanID.text) }
        return try await newest(ManagementClient.path("hubs", hub, "plans"), "planId", or: "hub \"\(hub)\" has no plans")
    }

    /// - Parameter isDecision: whether to decide the request. `latest` is then the only pending one, because another may have arrived
    ///   since you looked.
    /// Throws `usage.id` if it is `latest` and there is no such request, or, for a decision, several.
    func approval(_ text: String, isDecision: Bool) async throws(PushError) -> String {
        guard text == Self.latest else { return Self.numbered(text, "a", Approval.id) }
        let path = ManagementClient.path("approvals")
        guard isDecision else { return try await newest(path, "id", or: "there are no requests for approval") }
        let page = try await get(path, [("state", Approval.State.pending.rawValue), ("top", String(Self.candidatesShown + 1))])
        let ids = (page["items"]?.array ?? []).compactMap { $0["id"]?.string }
        guard let id = ids.first else {
            throw PushError("usage.id", "there are no pending requests", hint: "pushhost approvals list --decided shows the others")
        }
        guard ids.count == 1 else {
            throw Self.ambiguous("several requests are pending, so the latest one must be named", ids, hint: "write its id")
        }
        return id
    }

    private func newest(_ path: String, _ member: String, or nothing: String) async throws(PushError) -> String {
        guard let id = try await get(path, [("top", "1")])["items"]?.array?.first?[member]?.string else {
            throw PushError("usage.id", "\(nothing), so there is no latest one", hint: "write the id")
        }
        return id
    }

    /// The id with the number that a text such as `r-6`, `R-06` or `6` names; the text itself if it names no number.
    private static func numbered(_ text: String, _ letter: String, _ id: (Int64) -> String) -> String {
        let digits = text.lowercased().hasPrefix("\(letter)-") ? text.dropFirst(2) : text[...]
        guard (1...18).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits)
        else { return text }
        return id(number)
    }

    private static func ambiguous(_ message: String, _ ids: [String], hint: String) -> PushError {
        let shown = ids.prefix(candidatesShown)
        let more = ids.count > candidatesShown ? " and more" : ""
        return PushError(
            "usage.id", "\(message): \(shown.joined(separator: ", "))\(more)", hint: hint,
            details: [candidates: .array(shown.map(JSON.string))])
    }
}

extension ManagementClient {
    var ids: IDResolver { IDResolver { [self] path, query throws(PushError) in try await get(path, query) } }
}
