import ArgumentParser
import PushModel
import PushRuntime

struct ApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals", abstract: "List, show, approve and deny sends awaiting approval.",
        discussion: """
            A send to more devices than guard.ceiling, or the ceiling of its key, needs approval. Requesters cannot approve their own \
            requests.

            Example: pushhost approvals approve a-3
            """,
        subcommands: [ApprovalsListCommand.self, ApprovalsShowCommand.self, ApprovalsApproveCommand.self, ApprovalsDenyCommand.self])
}

struct ApprovalsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List requests for approval, newest first.",
        discussion: "Example: pushhost approvals list --decided")

    @Flag(name: .customLong("decided"), help: "Also list requests that are approved, denied or expired.")
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
                items.isEmpty ? ["no pending requests"] : ApprovalReport.table(items).lines(palette) + list.more(hasMore, palette)
            }
        }
    }
}

/// Options that choose an approval on a server.
struct ApprovalOptions: ParsableArguments {
    @Argument(help: "Id of the request, such as a-3, its number, or latest; to approve or deny it, latest must be the only pending one.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    /// - Parameter isDecision: whether the command decides the request.
    func run(
        isDecision: Bool, _ work: (ManagementClient, _ id: String, _ path: String) async throws(PushError) -> CommandResult
    ) async -> Never {
        await server.run { client throws(PushError) in
            let id = try await client.ids.approval(id, isDecision: isDecision)
            return try await work(client, id, ManagementClient.path("approvals", id))
        }
    }
}

struct ApprovalsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a request with its content.", discussion: "Example: pushhost approvals show a-3")

    @OptionGroup
    var options: ApprovalOptions

    func run() async {
        await options.run(isDecision: false) { client, _, path throws(PushError) in
            let approval = try await client.get(path)
            return CommandResult(json: approval) { ApprovalReport.lines(approval, $0) }
        }
    }
}

struct ApprovalsApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a send. It starts at once, or when it is due.",
        discussion: """
            If the audience has grown by more than a tenth and by more than five devices since the request, nothing is sent and the \
            request stays pending with the new size.

            Example: pushhost approvals approve a-3 --reason "checked with support"

            Exit codes: 0 sent · 2 usage · 4 server error, or already decided · 5 it is your own request.
            """)

    @Option(help: ArgumentHelp("Reason, for the audit log.", valueName: "text"))
    var reason: String?

    @OptionGroup
    var options: ApprovalOptions

    func run() async {
        await options.run(isDecision: true) { client, id, path throws(PushError) in
            let approval = try await client.post("\(path)/approve", body: ApprovalReport.body(reason))
            return CommandResult(json: approval) { palette in
                let notification = approval["notificationId"]?.string ?? ""
                return [
                    "\(palette.green("✓")) \(id.printable) approved: sent as \(notification)",
                    palette.dim("  see its results with pushhost notification show \(notification)"),
                ]
            }
        }
    }
}

struct ApprovalsDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Deny a request, or withdraw your own. The request stays in the list; its content is deleted.",
        discussion: "Example: pushhost approvals deny a-3 --reason \"wrong audience\"")

    @Option(help: ArgumentHelp("Reason, for the audit log and the requester.", valueName: "text"))
    var reason: String?

    @OptionGroup
    var options: ApprovalOptions

    func run() async {
        await options.run(isDecision: true) { client, id, path throws(PushError) in
            let approval = try await client.post("\(path)/deny", body: ApprovalReport.body(reason))
            return CommandResult(json: approval) { ["\($0.green("✓")) \(id.printable) denied: nothing was sent"] }
        }
    }
}
