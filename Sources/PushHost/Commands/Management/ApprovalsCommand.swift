import ArgumentParser
import PushCore

struct ApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals", abstract: "Sends that wait for somebody else's leave: list, show, approve and deny them.",
        discussion:
            "A send that reaches more devices than guard.ceiling, or the ceiling of its key, waits. Who asked for it cannot approve it.",
        subcommands: [ApprovalsListCommand.self, ApprovalsShowCommand.self, ApprovalsApproveCommand.self, ApprovalsDenyCommand.self])
}

struct ApprovalsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Those that wait, the latest first.")

    @Flag(name: .customLong("decided"), help: "Those, too, that do not wait any more.")
    var withDecided = false

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let (items, hasMore) = try await client.items(
                ManagementClient.path("approvals"), [("state", withDecided ? nil : "pending")], first: list.limit)
            return CommandResult(json: ["items": .array(items), "hasMore": .bool(hasMore)]) { palette in
                items.isEmpty ? ["nothing waits"] : ApprovalReport.table(items).lines(palette) + list.more(hasMore, palette)
            }
        }
    }
}

/// One approval of a server.
struct ApprovalOptions: ParsableArguments {
    @Argument(help: "Its id, such as a-3.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run(_ work: (ManagementClient, _ path: String) async throws(PushError) -> CommandResult) async -> Never {
        await server.run { client throws(PushError) in
            try await work(client, ManagementClient.path("approvals", id))
        }
    }
}

struct ApprovalsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "One of them, with what would be sent.")

    @OptionGroup
    var options: ApprovalOptions

    func run() async {
        await options.run { client, path throws(PushError) in
            let approval = try await client.get(path)
            return CommandResult(json: approval) { ApprovalReport.lines(approval, $0) }
        }
    }
}

struct ApprovalsApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Let a send go: at once, or at its moment.",
        discussion: """
            It goes out once. Where its audience has grown by more than a tenth since it was asked for, it stays, with the new size.

            Exit codes: 0 it was sent · 2 usage · 4 the server refuses, or it was decided before · 5 you have asked for it yourself.
            """)

    @Option(help: "Why, for the record.")
    var reason: String?

    @OptionGroup
    var options: ApprovalOptions

    func run() async {
        await options.run { client, path throws(PushError) in
            let approval = try await client.post("\(path)/approve", body: ApprovalReport.body(reason))
            return CommandResult(json: approval) { palette in
                let id = approval["notificationId"]?.string ?? ""
                return [
                    "\(palette.green("✓")) \(options.id.printable) approved: sent as \(id)",
                    palette.dim("  pushhost notification show \(id) tells what becomes of it"),
                ]
            }
        }
    }
}

struct ApprovalsDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Deny a send, or take back what you have asked for. Its record stays, what it says does not.")

    @Option(help: "Why, for the record and for who asked.")
    var reason: String?

    @OptionGroup
    var options: ApprovalOptions

    func run() async {
        await options.run { client, path throws(PushError) in
            let approval = try await client.post("\(path)/deny", body: ApprovalReport.body(reason))
            return CommandResult(json: approval) { ["\($0.green("✓")) \(options.id.printable) denied: nothing was sent"] }
        }
    }
}
