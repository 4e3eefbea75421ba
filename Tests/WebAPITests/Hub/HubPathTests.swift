import Testing

@testable import WebAPI

@Suite struct HubPathTests {
    @Test(
        arguments: [
            ("/", .hubs), ("/$Resources/NotificationHubs/", .hubs), ("/%24resources/notificationhubs", .hubs), ("/hub", .hub("hub")),
            ("/a/b/c", .hub("a/b/c")), ("/hub/registrationIDs/", .inHub("hub", .registrationIDs)),
            ("/a/b/Registrations/1-2-3", .inHub("a/b", .registration("1-2-3"))),
            ("/hub/tags/a%20b/registrations", .inHub("hub", .taggedRegistrations("a b"))),
            ("/hub/tags/messages/registrations", .inHub("hub", .taggedRegistrations("messages"))),
            ("/hub/tags/registrations/registrations", .inHub("hub", .taggedRegistrations("registrations"))),
            ("/hub/installations/a%2Fb", .inHub("hub", .installation("a/b"))), ("/hub/messages", .inHub("hub", .messages)),
            ("/hub/messages/$batch", .inHub("hub", .batch)), ("/hub/messages/%24batch/", .inHub("hub", .batch)),
            ("/hub/messages/$batch/n-1", .inHub("hub", .message("n-1"))), ("/hub/Messages/n-1/", .inHub("hub", .message("n-1"))),
            ("/hub/schedulednotifications/n-1", .inHub("hub", .scheduled("n-1"))),
            ("//hub/registrations", .inHub("hub", .registrations)), ("/hub//messages///", .inHub("hub", .messages)),
            ("/hub/feedbackcontainer", .inHub("hub", .feedback)), ("/hub/jobs/7", .inHub("hub", .job("7"))),
        ] as [(String, HubPath)])
    func `the end of a path selects the route`(path: String, expected: HubPath) {
        #expect(HubPath(path) == expected)
    }

    @Test(
        arguments: [
            "/hub/../etc", "/hub/./messages", "/hub/%2e%2e/messages", "/hub//../messages", "/hub/installations/%00",
            "/hub/%0d%0aX/messages",
            "/messages", "/registrations/1-2-3",
        ])
    func `a path with dot segments, control characters or without a hub is invalid`(path: String) {
        #expect(HubPath(path) == nil)
    }
}
