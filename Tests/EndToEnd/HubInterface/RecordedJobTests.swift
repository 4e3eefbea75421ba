import Foundation
import Support
import Testing

/// Bulk jobs over the wire, with the build of the program under test.
@Suite struct RecordedJobTests {
    private static let lines = 600

    /// The line that asks for another device's reserved tag.
    private static let reserved = 55

    private static func line(_ number: Int) -> String {
        number % 100 == 0
            ? "<AppleRegistrationDescription/>"
            : #"<AppleRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>t\#(number == reserved ? ",$InstallationId:{victim-1}" : "")</Tags>"#
                + "<DeviceToken>\(String(format: "%064X", number))</DeviceToken></AppleRegistrationDescription>"
    }

    private static func job(_ kind: String, _ folder: URL, file: URL? = nil) -> String {
        let input = file.map { "<ImportFileUri>\($0.absoluteString)</ImportFileUri>" } ?? ""
        return "<entry><content><NotificationHubJob><Type>\(kind)</Type><OutputContainerUri>\(folder.absoluteString)</OutputContainerUri>"
            + "\(input)</NotificationHubJob></content></entry>"
    }

    /// Runs a job and returns the rows of its two output files.
    private static func run(_ job: String, in folder: URL, by hub: ServedHub) async throws -> (done: [String], failed: [String]) {
        let made = try await hub.call("POST", "/hub/jobs?api-version=2020-06", body: job)
        #expect(made.status == 201, "\(made.body)")
        let id = try #require(made.body.firstMatch(of: /<JobId>([^<]+)</)?.1)
        var state = ""
        while !["Completed", "Failed"].contains(state) {
            let found = try await hub.call("GET", "/hub/jobs/\(id)?api-version=2020-06")
            state = found.body.firstMatch(of: /<Status>([^<]+)</).map { String($0.1) } ?? ""
        }
        #expect(state == "Completed")
        func rows(_ name: String) throws -> [String] {
            try String(contentsOf: folder.appending(path: "hub/\(id)/\(name)"), encoding: .utf8).split(separator: "\n").map(String.init)
        }
        return (try rows("Output.txt"), try rows("Failed.txt"))
    }

    @Test func `an import reports the result of each line, and an export contains what was imported`() async throws {
        let folder = try ScriptFolder()
        let file = folder.url.appending(path: "import.txt")
        try Data((1...Self.lines).map(Self.line).joined(separator: "\n").utf8).write(to: file)
        try await ServedHub.serving(settings: ["PUSHHOST_JOBS_FOLDERS": folder.url.path]) { hub in
            let rows = try await Self.run(Self.job("ImportCreateRegistrations", folder.url, file: file), in: folder.url, by: hub)
            let wrong = Set((1...6).map { $0 * 100 } + [Self.reserved])
            let numbers = rows.done.map { $0.prefix { $0 != "," } }.compactMap { Int($0) }
            #expect(numbers == (1...Self.lines).filter { !wrong.contains($0) })
            #expect(rows.done.allSatisfy { $0.contains(/^\d+,Created,\d+-\d+-\d+$/) })
            #expect(rows.failed.compactMap { Int($0.prefix { $0 != "," }) } == wrong.sorted())
            #expect(rows.failed.contains(#"55,tag.reserved,"tags cannot start with $: ""$InstallationId:{victim-1}""""#))
            let exported = try await Self.run(Self.job("ExportRegistrations", folder.url), in: folder.url, by: hub)
            #expect(exported.done.count == Self.lines - wrong.count)
            #expect(exported.done[0].contains(String(format: "%064X", 1)))
        }
    }
}
