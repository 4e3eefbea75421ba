import ArgumentParser
import PushCore

struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "List what was sent, show what became of it, and cancel what is to be sent later or is under way.",
        subcommands: [NotificationListCommand.self, NotificationShowCommand.self, NotificationCancelCommand.self])
}

struct NotificationListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The notifications of a hub, newest first.")

    @Flag(help: "Only those that wait for their moment.")
    var scheduled = false

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let (notifications, hasMore) = try await client.items(
                ManagementClient.path("hubs", hub, "notifications"), [("scheduled", scheduled ? "true" : nil)],
                first: list.limit)
            return CommandResult(json: ["items": .array(notifications), "hasMore": .bool(hasMore)]) { palette in
                notifications.isEmpty
                    ? ["no notifications"] : Self.table(notifications).lines(palette) + list.more(hasMore, palette)
            }
        }
    }

    private static func table(_ notifications: [JSON]) -> TextTable {
        var table = TextTable("NOTIFICATION", "STATE", "TO", "SENT OR DUE", "#SENT", "#FAILED")
        for one in notifications {
            let counts = OutcomeCounts(one)
            table.add(
                one["notificationId"]?.string ?? "", one["state"]?.string ?? "", one["tagExpression"]?.string ?? "everybody",
                one["scheduledFor"]?.string ?? one["enqueuedAt"]?.string ?? "", String(counts.sent), String(counts.failed))
        }
        return table
    }
}

struct NotificationShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "What has become of a notification so far.",
        discussion: """
            Exit codes: 0 it is shown, also where devices failed · 2 usage · 4 the server refuses: it does not know the notification. \
            pushhost send tells by its exit code whether all devices were reached.
            """)

    @Argument(help: "Its id.")
    var id: String

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let report = try await Sender(client: client, hub: hub).report(id)
            return CommandResult(json: report.json) { SendReport(palette: $0).lines(report) }
        }
    }
}

struct NotificationCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a notification that waits for its moment, or stop one that is under way: nobody else gets it.")

    @Argument(help: "Its id.")
    var id: String

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            try await client.delete(ManagementClient.path("hubs", hub, "notifications", id))
            return CommandResult(json: ["notificationId": .string(id)]) {
                ["\($0.green("✓")) notification \(id.printable) cancelled"]
            }
        }
    }
}
