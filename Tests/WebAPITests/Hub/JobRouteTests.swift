import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct JobRouteTests {
    private let body =
        "<entry><content><NotificationHubJob><Type>ExportRegistrations</Type><OutputContainerUri>file:///x</OutputContainerUri>"
        + "</NotificationHubJob></content></entry>"

    @Test func `A job is created, found and listed`() async throws {
        let bench = try await RouteBench()
        let routes = JobRoutes(access: bench.access, random: SeededRandom(seed: 1))
        let created = try await routes.create("hub", try bench.request("/hub/jobs", body: body))
        #expect(created.status == .created)
        let location = try #require(created.fields[.location])
        let id = try #require(location.firstMatch(of: /http:\/\/localhost\/hub\/jobs\/([-0-9a-f]{36})\?api-version=2020-06/)?.1)
        #expect(String(decoding: created.body, as: UTF8.self).contains("<JobId>\(id)</JobId>"))
        let hub = try #require(bench.access.namespace.hub("hub"))
        await hub.jobs.finish()
        let found = try await routes.get(String(id), of: "hub", try bench.request("/hub/jobs/\(id)"))
        #expect(found.status == .ok)
        let text = String(decoding: found.body, as: UTF8.self)
        #expect(text.contains("<Status>Completed</Status>"))
        #expect(text.contains("<d3p1:Value>/hub/\(id)/Output.txt</d3p1:Value>"))
        let list = try await routes.list("hub", try bench.request("/hub/jobs"))
        #expect(list.status == .ok)
        #expect(String(decoding: list.body, as: UTF8.self).contains("<JobId>\(id)</JobId>"))
        #expect(await refusal { try await routes.get("x", of: "hub", try bench.request("/hub/jobs/x")) }?.code == "job.not_found")
    }

    @Test func `Jobs need a key with Manage`() async throws {
        let bench = try await RouteBench()
        let routes = JobRoutes(access: bench.access, random: SeededRandom(seed: 1))
        let error = await refusal {
            try await routes.create("hub", try bench.request("/hub/jobs", rule: Namespace.listenRule, body: body))
        }
        #expect(error?.code == "sas.forbidden")
    }
}

@Suite struct RegistrationLinesTests {
    @Test func `A registration is written as one line and read back from it`() throws {
        let lines = RegistrationLines()
        let body = "{\r\n\"aps\": {\"alert\": \"$(m)\"},\n\"b\": \"]]> é\"\n}"
        let id = try #require(RegistrationID("1-2-3"))
        let registration = Registration(
            id: id, etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(
                handle: .phone(1), tags: [try Tag("a")], template: try RegistrationTemplate(name: "t", body: body, platform: .apns),
                pushVariables: ["a": "b\nc"]))
        let line = lines.line(registration)
        #expect(!line.contains { $0 == 0x0A || $0 == 0x0D })
        #expect(try lines.id(of: line) == id)
        let (found, description) = try lines.registration(of: line)
        #expect(found == id)
        #expect(
            description
                == RegistrationDescription(
                    handle: registration.handle, tags: registration.tags, template: registration.template,
                    pushVariables: registration.pushVariables))
    }

    @Test func `A line may have no id, and an invalid id is refused`() async throws {
        let lines = RegistrationLines()
        #expect(try lines.id(of: Array("<AppleRegistrationDescription/>".utf8)) == nil)
        let wrong = Array("<AppleRegistrationDescription><RegistrationId>x</RegistrationId></AppleRegistrationDescription>".utf8)
        #expect(await refusal { try lines.id(of: wrong) }?.code == "registration.invalid")
        #expect(await refusal { try lines.registration(of: Array("x".utf8)) }?.code == "xml.invalid")
    }
}
