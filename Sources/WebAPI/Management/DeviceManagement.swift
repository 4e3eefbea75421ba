import HTTPTypes
import PushHub
import PushModel

/// Routes for devices: installations and standalone registrations.
enum DeviceManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/installations", "listInstallations", "Installations that match all parameters"),
            .hub(.manage), search, answer: .ok("A page of installations", .page(of: installation))
        ) { call async throws(PushError) in
            let page = try await call.hub.service.search(try call.search, page: call.page)
            return call.list(page.installations.map { $0.json(lastOutcome: $1) }, continuation: page.continuation)
        },
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/installations/{id}", "getInstallation", "One installation"),
            .hub(.manage), answer: .ok("The installation", installation)
        ) { call async throws(PushError) in
            let service = try call.hub.service
            let found = try await service.installation(call.name("id"))
            return call.answer(found.json(lastOutcome: await service.lastOutcome(ofInstallation: found.id)))
        },
        ManagementRoute(
            .get(
                "/api/v1/hubs/{hub}/registrations", "listRegistrations",
                "Standalone registrations that match all parameters; those of installations are listed as installations"),
            .hub(.manage), search, answer: .ok("A page of registrations", .page(of: registration))
        ) { call async throws(PushError) in
            let page = try await call.hub.service.searchRegistrations(try call.search, page: call.page)
            return call.list(page.registrations.map { $0.json(lastOutcome: $1) }, continuation: page.continuation)
        },
        DeviceImportManagement.route, DeviceImportManagement.export,
    ]

    private static let search: [ManagementRoute.Parameter] = [
        .user, .tag, .platform, .outcome("lastOutcome"), .top, .continuation(#"[0-9]{1,9}"#),
    ]

    private static let installation = JSONSchema.object(
        "Installation",
        [
            "installationId": .text(), "platform": .platform, "userId?": .text(), "tags": .list(of: .text()), "handle": handle,
            "templates": .list("Their names", of: .text()), "expirationTime": .timestamp(),
            "lastOutcome?": .outcome,
        ])

    private static let registration = JSONSchema.object(
        "Registration",
        [
            "registrationId": .text(), "platform": .platform, "tags": .list(of: .text()), "handle": handle,
            "template?": .text("Its name, empty if it has none; absent for a native registration"), "expirationTime": .timestamp(),
            "lastOutcome?": .outcome,
        ])

    private static let handle = JSONSchema.text("Abbreviated: enough to recognise the device, not to send to it")
}

extension ManagementCall {
    fileprivate var search: DeviceSearch {
        get throws(PushError) {
            DeviceSearch(
                user: text("user"), tag: try text("tag").map { text throws(PushError) in try Tag(checking: text) },
                platform: text("platform").flatMap { Platform(shortName: $0) },
                lastOutcome: text("lastOutcome").flatMap { OutcomeName(rawValue: $0) })
        }
    }
}

extension Tag {
    fileprivate init(checking text: String) throws(PushError) {
        do {
            try self.init(text)
        } catch {
            throw PushError(error)
        }
    }
}

extension [Tag] {
    fileprivate var json: JSON { .array(map { .string($0.text) }) }
}

extension Installation {
    fileprivate func json(lastOutcome: OutcomeName?) -> JSON {
        .members([
            "installationId": .string(id), "platform": .string(handle.platform.shortName), "userId": userID.map { .string($0) },
            "tags": tags.json, "handle": .string(handle.abbreviated), "templates": .array(templates.keys.sorted().map { .string($0) }),
            "expirationTime": .timestamp(expiration ?? .distantFuture), "lastOutcome": lastOutcome.map { .string($0.rawValue) },
        ])
    }
}

extension Registration {
    fileprivate func json(lastOutcome: OutcomeName?) -> JSON {
        .members([
            "registrationId": .string(id.text), "platform": .string(platform.shortName), "tags": tags.json,
            "handle": .string(handle.abbreviated), "template": template.map { .string($0.name ?? "") },
            "expirationTime": .timestamp(expiration), "lastOutcome": lastOutcome.map { .string($0.rawValue) },
        ])
    }
}
