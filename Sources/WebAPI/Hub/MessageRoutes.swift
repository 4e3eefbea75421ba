import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for immediate and scheduled sends and their results (hub interface: "Send messages", "Telemetry").
struct MessageRoutes: Sendable {
    let access: HubAccess

    /// Responds with 201 once the notification is stored. For a test send, responds with the results of its devices.
    func send(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .send, request)
        let hub = caller.hub
        let body = try await access.body(request, limit: Message.maximumSize, .send, of: hub)
        let message = try Message(headers: request.fields, query: request.query, body: body, emptyTags: access.policy.emptyTags)
        if message.request.isTest { return try await test(message.request, "messages", of: caller, request) }
        let accepted = try await accept(message, message.scheduledFor, by: caller, request)
        return created(accepted, "messages/\(accepted.outcome.id)", of: hub, request)
    }

    func sendBatch(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .send, request)
        let hub = caller.hub
        let body = try await access.body(request, limit: Message.maximumBatchSize, .send, of: hub)
        var message = try Message(batch: request.fields, query: request.query, body: body)
        message.request.audience = .devices(message.devices)
        if message.request.isTest { return try await test(message.request, "messages/$batch", of: caller, request) }
        let accepted = try await accept(message, nil, by: caller, request)
        return created(accepted, "messages/$batch/\(accepted.outcome.id)", of: hub, request, flags: "&direct")
    }

    func schedule(_ hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .send, request)
        let hub = caller.hub
        let body = try await access.body(request, limit: Message.maximumSize, .send, of: hub)
        var message = try Message(
            headers: request.fields, query: request.query, body: body, needsTime: true, emptyTags: access.policy.emptyTags)
        // Some clients add `&test` to every address.
        message.request.isTest = false
        let accepted = try await accept(message, message.scheduledFor, by: caller, request)
        return created(accepted, "schedulednotifications/\(accepted.outcome.id)", of: hub, request)
    }

    func cancel(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let caller = try access.caller(hub, .send, request)
        try await caller.hub.service.cancel(notification: id)
        await access.audit?.noteOften(caller.principal, .notificationCancel, id, ["hub": caller.hub.record.name])
        return WebAnswer(.ok)
    }

    func telemetry(_ id: String, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        let hub = try access.hub(hub, .send, request)
        let stored = try await hub.service.notification(id)
        let location = request.address("/\(hub.record.name)/messages/\(id)")
        return WebAnswer(
            .ok, ErrorDocument.contentType, OutcomeXML.detailsDocument(stored.outcome, at: location, request: stored.request))
    }

    private func accept(
        _ message: Message, _ dueTime: Timestamp?, by caller: HubCaller, _ request: WebRequest
    ) async throws(PushError) -> AcceptedNotification {
        let accepted = try await caller.hub.service.accept(
            message.request, at: dueTime, idempotencyKey: request.fields[.idempotencyKey], admission: admission(caller, request))
        // Frequent sends by apps get no audit entry, because the stored notifications are sufficient records.
        if !accepted.isRepeated, dueTime != nil || message.request.audience == .everyone || caller.principal == .owner {
            await access.audit?.noteOften(
                caller.principal, .notificationSend, accepted.outcome.id,
                SendAuditDetails.details(message.request, caller.hub.record.name, at: dueTime?.description, "hub"))
        }
        return accepted
    }

    /// The admission check of a send. The note is shown to the approver.
    private func admission(_ caller: HubCaller, _ request: WebRequest) -> SendAdmission? {
        access.admission(of: caller.principal, caller.rule, to: caller.hub, request, note: request.fields[.note]?.nonEmpty)
    }

    private func test(
        _ message: NotificationRequest, _ place: String, of caller: HubCaller, _ request: WebRequest
    ) async throws(PushError) -> WebAnswer {
        let hub = caller.hub
        try access.checkTests(hub, request)
        guard request.fields[.idempotencyKey] == nil else {
            throw PushError(
                "hub.idempotency_key", "a test send does not accept an Idempotency-Key", hint: "leave it out: each test send is separate",
                status: 400)
        }
        let outcome = try await hub.service.send(message, admission: admission(caller, request))
        let flags = (request.query.has("direct") ? "&direct" : "") + "&test"
        return WebAnswer(
            .created, ErrorDocument.contentType, OutcomeXML.testDocument(outcome),
            [.location: request.address("/\(hub.record.name)/\(place)/\(outcome.id)", flags)])
    }

    private func created(
        _ accepted: AcceptedNotification, _ place: String, of hub: ServedHub, _ request: WebRequest, flags: String = ""
    ) -> WebAnswer {
        var answer = WebAnswer(
            .created, ErrorDocument.contentType, [],
            [.location: request.address("/\(hub.record.name)/\(place)", flags)])
        if accepted.isRepeated { answer.fields[.idempotencyReplayed] = "true" }
        return answer
    }
}

extension HTTPField.Name {
    /// The purpose of a send, in the sender's words.
    fileprivate static let note = HTTPField.Name("ServiceBusNotification-Note") ?? .server
}
