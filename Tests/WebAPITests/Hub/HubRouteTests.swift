import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct HubRouteTests {
    private static let description = "<NotificationHubDescription/>"

    private func routes(_ bench: RouteBench) -> HubRoutes { HubRoutes(access: bench.access, random: SeededRandom(seed: 1)) }

    @Test func `A hub's own key may change and delete its hub, and create no other`() async throws {
        let bench = try await RouteBench()
        let routes = routes(bench)
        let again = await refusal { try await routes.put("hub", try bench.request("/hub", body: Self.description)) }
        #expect(again?.code == "hub.exists" && again?.status == 409)
        let other = await refusal { try await routes.put("other", try bench.request("/other", body: Self.description)) }
        #expect(other?.code == "sas.signature" && other?.status == 401)
        #expect(other?.hint == "sign with a key of the hub or, to create one, with a key of the server, such as RootManageSharedAccessKey")
        for path in ["hub", "other"] {
            let error = await refusal { try await routes.delete(path, try bench.request("/\(path)", rule: Namespace.listenRule)) }
            #expect(error?.status == 401, "\(path)")
        }
        #expect(try await routes.delete("hub", try bench.request("/hub")).status == .ok)
        #expect(bench.access.namespace.hub("hub") == nil)
    }

    @Test func `The id of a list is the requested address with its whole query`() async throws {
        let bench = try await RouteBench()
        let rule = try #require(bench.access.namespace.rules.first)
        let token = SASToken(minting: "sb://localhost/", rule: rule, expiration: HubBench.startTime + .seconds(60))
        let list = RegistrationRoutes(access: bench.access)
        for (path, query, address) in [
            ("/", "api-version=2014-09&$skip=0&$top=2", "http://localhost/?api-version=2014-09&amp;$skip=0&amp;$top=2"),
            ("/", "", "http://localhost/?api-version=2020-06"),
            (
                "//hub/registrations/", "$top=2&$filter=ChannelUri+eq+%27AB%27&api-version=1",
                "http://localhost/hub/registrations?$top=2&amp;$filter=ChannelUri+eq+%27AB%27&amp;api-version=1"
            ),
        ] {
            let request = bench.unsigned(path, query: query, fields: [.authorization: token.header])
            let answer = try await path == "/" ? routes(bench).list(request) : list.list("hub", request)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("</title><id>\(address)</id>"), "\(text.prefix(200))")
            #expect(text.contains("<link rel=\"self\" href=\"\(address)\"/>"))
        }
    }
}
