import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for hubs: list, create, delete.
enum HubManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/hubs", "listHubs", "All hubs, by name"),
            .server(.manage), answer: .ok("The hubs", .object("Hubs", ["items": .list(of: hub)]))
        ) { call async throws(PushError) in
            var items: [JSON] = []
            for hub in call.namespace.hubs { items.append(await hub.json(call.credentials(of: hub))) }
            return call.list(items, continuation: nil)
        },
        ManagementRoute(
            .post("/api/v1/hubs", "createHub", "Create a hub"),
            .server(.manage),
            body: .object(
                "NewHub",
                [
                    "name": .hubName,
                    "registrationTTL?": .text(
                        "Lifetime of a registration after its last update, at least a day, such as P90D; by default unlimited",
                        pattern: #"P[1-9][0-9]{0,6}D(?:T(?=[0-9])(?:[0-9]{1,4}H)?(?:[0-9]{1,4}M)?(?:[0-9]{1,4}(?:\.[0-9]{1,3})?S)?)?"#),
                    "userMetadata?": .text("Free text, shown with the hub", length: 0...1024),
                ]),
            answer: .created("The new hub", hub), refusals: [409],
            audit: AuditRule(.hubCreate) { call, _ in (call.body["name"]?.string ?? "", [:]) }
        ) { call async throws(PushError) in
            let name = call.body["name"]?.string ?? ""
            let lifetime = call.body["registrationTTL"]?.string.flatMap { TimeToLive.parse($0) } ?? nil
            let description = HubDescription(
                registrationTTL: lifetime, userMetadata: call.body["userMetadata"]?.string?.nonEmpty)
            let record = try await call.namespace.create(name, description, while: call.permission)
            guard let hub = call.namespace.hub(record.name) else { throw HubAccess.hubNotFound }
            return call.answer(
                await hub.json(call.credentials(of: hub)), .created, location: "/api/v1/hubs/\(PercentEncoding.encode(name))")
        },
        ManagementRoute(
            .get("/api/v1/hubs/{hub}", "getHub", "One hub"),
            .hub(.manage), answer: .ok("The hub", hub)
        ) { call async throws(PushError) in
            let hub = try call.hub
            return call.answer(await hub.json(call.credentials(of: hub)))
        },
        ManagementRoute(
            .delete("/api/v1/hubs/{hub}", "deleteHub", "Delete a hub with everything in it"),
            .hub(.manage), answer: .deleted,
            audit: AuditRule(.hubDelete) { call, _ throws(PushError) in (try call.hub.record.name, [:]) }
        ) { call async throws(PushError) in
            try await call.namespace.delete(try call.hub.record.name, while: call.permission)
            return WebAnswer(.noContent)
        },
    ]

    private static let hub = JSONSchema.object(
        "Hub",
        [
            "name": .text(), "createdAt": .timestamp(), "updatedAt": .timestamp(),
            "registrationTTL?": .text("Lifetime of a registration after its last update, as an ISO 8601 duration; absent: unlimited"),
            "userMetadata?": .text(), "registrations": .integer("Number of registrations, including those of installations"),
            "installations": .integer("Number of installations"), "waiting": .integer("Accepted notifications that have not started"),
            "pushServices": .list("Push services for which the hub has credentials, its own or from the server's settings", of: .platform),
            "credentials?": .list("Its credentials, without secrets", of: HubCredential.schema),
            "troubles?": .list(
                "Current delivery issues",
                of: .object(
                    "DeliveryTrouble",
                    [
                        "platform": .platform,
                        "nextTryAt?": .timestamp("Next attempt, while the push service does not respond or rejects the credential"),
                        "origin?": .text("The browser push service"),
                        "reason?": .text("The push service's reason for rejecting the hub's credential"),
                        "explanation?": .text("What the reason means and what to do"),
                        "mixUp?": .text("Most handles do not match the credential: the likely cause and what to do"),
                    ])),
        ])
}

extension ServedHub {
    fileprivate func json(_ credentials: [HubCredential]) async -> JSON {
        let description = record.description
        let size = await service.size()
        let issues = await service.issues()
        return .members([
            "name": .string(record.name), "createdAt": .timestamp(record.createdAt), "updatedAt": .timestamp(record.updatedAt),
            "registrationTTL": description.registrationTTL.map { .string(TimeToLive.text($0)) },
            "userMetadata": description.userMetadata.map { .string($0) }, "registrations": .count(size.registrations),
            "installations": .count(size.installations), "waiting": .count(await service.backlog),
            "pushServices": .array(credentials.map { .string($0.platform.shortName) }),
            "credentials": credentials.isEmpty ? nil : .array(credentials.map(\.json)),
            "troubles": issues.isEmpty ? nil : .array(issues.map(\.json)),
        ])
    }
}

extension DeliveryIssue {
    fileprivate var json: JSON {
        switch kind {
        case .openCircuit(let origin, let nextTry, let block):
            .members([
                "platform": .string(platform.shortName), "nextTryAt": .timestamp(nextTry), "origin": origin.map { .string($0) },
                "reason": block.map { .string($0.reason) }, "explanation": block.map { .string($0.explanation) },
            ])
        case .wrongEnvironment(let words, _): ["platform": .string(platform.shortName), "mixUp": .string(words)]
        }
    }
}
