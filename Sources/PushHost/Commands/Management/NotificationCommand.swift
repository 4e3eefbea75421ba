import ArgumentParser
import PushModel
import PushRuntime

struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "List, show and cancel notifications.",
        discussion: "Example: pushhost notification list --scheduled",
        subcommands: [NotificationListCommand.self, NotificationShowCommand.self, NotificationCancelCommand.self])
}

struct NotificationListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the notifications of a hub, newest first.",
        discussion: "Example: pushhost notification list --scheduled")

    @Flag(help: "Only scheduled notifications.")
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
                one["notificationId"]?.string ?? "", one["state"]?.string ?? "", NotificationAudience(one).text,
                one["scheduledFor"]?.string ?? one["enqueuedAt"]?.string ?? "", String(counts.sent), String(counts.failed))
        }
        return table
    }
}

struct NotificationShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the results of a notification so far.",
        discussion: """
            Example: pushhost notification show 1fe4b9

            Exit codes: 0 shown, even if devices failed · 2 usage · 4 server error, for example an unknown notification. To learn from the \
            exit code whether all devices were reached, use pushhost send.
            """)

    @Argument(help: "Id of the notification or its beginning.")
    var id = IDResolver.latest

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let id = try await client.ids.notification(id, hub: hub)
            let report = try await Sender(client: client, hub: hub).report(id)
            return CommandResult(json: report.json) { SendReport(palette: $0).lines(report) }
        }
    }
}

struct NotificationCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a scheduled notification, or stop one in progress. Devices not reached yet do not receive it.",
        discussion: "Example: pushhost notification cancel latest")

    @Argument(help: "Id of the notification, its beginning, or latest.")
    var id: String

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let id = try await client.ids.notification(id, hub: hub)
            try await client.delete(ManagementClient.path("hubs", hub, "notifications", id))
            return CommandResult(json: ["notificationId": .string(id)]) {
                ["\($0.green("✓")) notification \(id.printable) cancelled"]
            }
        }
    }
}
