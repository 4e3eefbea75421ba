import ArgumentParser
import PushModel
import PushRuntime
import RemoteHub

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether a server runs, its hubs, pending approvals and issues.",
        discussion: """
            pushhost doctor examines more, also of a server that does not run.

            Example: pushhost status

            Exit codes: 0 running without issues · 1 running with issues · 2 usage · 4 server error, or no server is running.
            """)

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let status = try await ServerOverview(client: client).read()
            return CommandResult(
                json: status.json, lines: status.lines, status: status.isWell ? ExitStatus.pass : ExitStatus.failed)
        }
    }
}

/// The state of a server, as far as the client's key allows.
struct ServerOverview {
    struct Status {
        /// Nil for a server older than the route.
        var version: String?
        /// The server's URL; nil if unknown.
        var url: String?
        /// As `GET /api/v1/hubs` returns them.
        var hubs: [JSON]
        /// The number of sends awaiting approval, at most 100; nil if the key cannot list them.
        var approvals: Int?
        /// The number of devices whose removal is held, by hub.
        var held: [(hub: String, devices: Int)] = []

        /// Issues of hubs, as sentences.
        var issues: [String] {
            hubs.flatMap { hub in HubReport.issues(of: hub).map { "\(hub["name"]?.string ?? ""): \($0)" } }
                + held.map { "\($0.hub): \($0.devices) removals are held (pushhost pruned held)" }
        }

        var isWell: Bool { issues.isEmpty }

        var json: JSON {
            var members = JSONObject()
            members["version"] = version.map(JSON.string)
            members["url"] = url.map(JSON.string)
            members["hubs"] = .array(hubs)
            members["pendingApprovals"] = approvals.map { .integer(Int64($0)) }
            members["issues"] = .array(issues.map(JSON.string))
            return .object(members)
        }

        func lines(_ palette: Palette) -> [String] {
            let about = [version.map { "version \($0)" }, url].compactMap { $0 }.joined(separator: " · ")
            var lines = ["\(isWell ? palette.green("✓") : palette.yellow("!")) running  \(about.printable)"]
            lines += HubReport.table(hubs).lines(palette).map { "  \($0)" }
            if let approvals, approvals > 0 {
                let number = approvals == ServerOverview.approvalsCounted ? "at least \(approvals)" : "\(approvals)"
                lines.append("  \(number) awaiting approval: pushhost approvals list")
            }
            return lines + issues.map { "  \(palette.yellow("issue"))  \($0.printable)" }
        }
    }

    let client: ManagementClient

    fileprivate static let approvalsCounted = 100

    func read() async throws(PushError) -> Status {
        let hubs = try await client.hubs.all()
        let about = try? await client.get(ServerDescription.path)
        // Only the owner can read this.
        let own = try? await client.get(ManagementClient.path("server"))
        let pending = try? await client.items(
            ManagementClient.path("approvals"), [("state", Approval.State.pending.rawValue)], first: Self.approvalsCounted)
        let held = (own?["heldRemovals"]?.array ?? []).compactMap { item in
            item["hub"]?.string.map { (hub: $0, devices: item["devices"]?.int ?? 0) }
        }
        return Status(
            version: about?["version"]?.string, url: await client.clientURL(), hubs: hubs, approvals: pending?.items.count, held: held)
    }
}
