import PushModel
import Support
import Synchronization
import Testing

@testable import PushHost

/// Short ids and `latest` on the command line.
@Suite struct IDResolverTests {
    /// A server that answers each list with the same items and notes the requests.
    private final class Lists: Sendable {
        private let items: [JSON]
        private let noted = Mutex<[String]>([])

        init(_ member: String, _ ids: [String]) { items = ids.map { .object(JSONObject([(member, .string($0))])) } }

        var requests: [String] { noted.withLock { $0 } }

        var ids: IDResolver {
            IDResolver { [self] path, query throws(PushError) in
                let text = query.map { "\($0.0)=\($0.1 ?? "")" }.joined(separator: "&")
                noted.withLock { $0.append("\(path)?\(text)") }
                return ["items": .array(items)]
            }
        }
    }

    private static let complete = "1fe4b9c1bdc4d11608044930e2d650e3-20261126090434-1-1"
    private static let notifications = "/api/v1/hubs/hub/notifications"

    @Test func `a complete id needs no request`() async throws {
        let lists = Lists("notificationId", [])
        #expect(try await lists.ids.notification(Self.complete, hub: "hub") == Self.complete)
        #expect(try await lists.ids.notification("n-0001", hub: "hub") == "n-0001")
        #expect(try await lists.ids.run("r-6") == "r-6")
        #expect(try await lists.ids.plan("p-0003", hub: "hub") == "p-0003")
        #expect(try await lists.ids.approval("a-3", isDecision: true) == "a-3")
        #expect(lists.requests == [])
    }

    @Test func `the beginning of one notification's id stands for it`() async throws {
        let lists = Lists("notificationId", [Self.complete])
        #expect(try await lists.ids.notification("1fe4", hub: "hub") == Self.complete)
        #expect(lists.requests == ["\(Self.notifications)?prefix=1fe4&top=6"])
    }

    @Test func `a beginning of several ids is refused with those ids`() async throws {
        let ids = (1...6).map { "1fe4b9c1bdc4d11608044930e2d650e\($0)-20261126090434-\($0)-1" }
        let error = await refusal { try await Lists("notificationId", ids).ids.notification("1fe4", hub: "hub") }
        #expect(error?.code == "usage.id" && error?.details["candidates"]?.array?.compactMap(\.string) == Array(ids.prefix(5)))
        #expect(error?.message.hasSuffix("\(ids[4]) and more") == true && error?.message.contains("\(ids[0]), \(ids[1])") == true)
        let shown = ManagementSession.refusal(try #require(error), exitCode: 2)
        #expect(shown["error"]?["candidates"]?.array?.count == 5)
    }

    @Test func `a text with which no id begins is passed on, also to an older server`() async throws {
        #expect(try await Lists("notificationId", []).ids.notification("2a", hub: "hub") == "2a")
        let older = IDResolver { _, _ throws(PushError) in throw PushError("request.parameter", "unknown parameter \"prefix\"") }
        #expect(try await older.notification("2a", hub: "hub") == "2a")
        let broken = IDResolver { _, _ throws(PushError) in throw PushError("control.unreachable", "no server is running") }
        #expect(await refusal { try await broken.notification("2a", hub: "hub") }?.code == "control.unreachable")
    }

    @Test func `latest stands for the newest object`() async throws {
        let lists = Lists("notificationId", [Self.complete])
        #expect(try await lists.ids.notification("latest", hub: "hub") == Self.complete)
        #expect(lists.requests == ["\(Self.notifications)?top=1"])
        #expect(try await Lists("runId", ["r-9"]).ids.run("latest") == "r-9")
        #expect(try await Lists("planId", ["p-0002"]).ids.plan("latest", hub: "hub") == "p-0002")
        #expect(try await Lists("id", ["a-4"]).ids.approval("latest", isDecision: false) == "a-4")
        let none = Lists("id", []).ids
        for error in [
            await refusal { try await none.notification("latest", hub: "hub") }, await refusal { try await none.run("latest") },
            await refusal { try await none.plan("latest", hub: "hub") },
            await refusal { try await none.approval("latest", isDecision: false) },
            await refusal { try await none.approval("latest", isDecision: true) },
        ] {
            #expect(error?.code == "usage.id")
        }
    }

    @Test func `latest decides a request only if no other one is pending`() async throws {
        let one = Lists("id", ["a-4"])
        #expect(try await one.ids.approval("latest", isDecision: true) == "a-4")
        #expect(one.requests == ["/api/v1/approvals?state=pending&top=6"])
        let error = await refusal { try await Lists("id", ["a-4", "a-2"]).ids.approval("latest", isDecision: true) }
        #expect(error?.code == "usage.id" && error?.details["candidates"] == ["a-4", "a-2"])
    }

    @Test func `a number stands for a run, a plan or a request, and the beginning of a number does not`() async throws {
        let lists = Lists("id", ["r-61"])
        #expect(try await lists.ids.run("6") == "r-6")
        #expect(try await lists.ids.run("R-06") == "r-6")
        #expect(try await lists.ids.plan("3", hub: "hub") == "p-0003")
        #expect(try await lists.ids.plan("p-3", hub: "hub") == "p-0003")
        #expect(try await lists.ids.approval("12", isDecision: true) == "a-12")
        for text in ["r-", "p-3", "six", "6x", "", "-6", "9999999999999999999"] { #expect(try await lists.ids.run(text) == text) }
        #expect(lists.requests == [])
    }
}
