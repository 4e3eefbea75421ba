import HTTPTypes
import PushCore

// Tags: which there are, and how many registrations have each.
extension ManagementRoute {
    static let tags: [ManagementRoute] = [
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/tags", "listTags", "The tags in use, those of most registrations first", .hub, .manage,
            [
                Parameter(name: "prefix", schema: .text("What the tags begin with, in any case", length: 0...120)), .top,
                .continuation(#"[0-9]{1,9}\.[\#(JSONSchema.tagCharacters)]{1,120}"#),
            ],
            answer: .ok(
                "A page of tags", .page(of: .object("TagCount", ["tag": .text(), "registrations": .integer()])))
        ) { call async throws(PushError) in
            let page = try await call.hub.service.tags(prefix: call.text("prefix") ?? "", page: call.page)
            let items: [JSON] = page.tags.map { ["tag": .string($0.tag.text), "registrations": .count($0.registrations)] }
            return call.list(items, continuation: page.continuation)
        }
    ]
}
