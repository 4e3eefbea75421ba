import Foundation
import PushModel
import Support
import Testing

@testable import PushHost

/// Lines of exported devices.
@Suite struct DeviceExportTests {
    private static let token = String(repeating: "0A", count: 32)

    private static let devices: [JSON] = [
        [
            "installation": [
                "installationId": "pad", "platform": "fcmV1", "pushChannel": "abc", "userId": "ana", "tags": ["a", "b"],
                "templates": ["t": ["body": "{}"]],
            ]
        ],
        [
            "installation": [
                "installationId": "tab", "platform": "browser",
                "pushChannel": ["endpoint": "https://push.example/1", "p256dh": "B", "auth": "a"],
            ]
        ],
        [
            "registration": .string(
                "<AppleRegistrationDescription><RegistrationId>1-2-3</RegistrationId><Tags>c,d</Tags>"
                    + "<DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>")
        ],
    ]

    /// Exports the devices, one in each page.
    private func export(
        _ format: DeviceLineParser.Format
    ) async throws -> (lines: [String], summary: DeviceExport.Summary, seen: [Int]) {
        var (lines, seen): ([String], [Int]) = ([], [])
        let export = DeviceExport(format: format) { query throws(PushError) in
            let number = query.last?.1.flatMap { Int($0) } ?? 0
            var page: JSONObject = ["items": [Self.devices[number]]]
            if number + 1 < Self.devices.count { page.append("continuation", .string(String(number + 1))) }
            return .object(page)
        }
        let summary = try await export.write(to: { lines.append($0) }, progress: { seen.append($0.written) })
        return (lines, summary, seen)
    }

    @Test func `JSON lines have all devices, page by page`() async throws {
        let (lines, summary, seen) = try await export(.ndjson)
        #expect(summary == DeviceExport.Summary(written: 3, left: 0) && seen == [1, 2, 3])
        #expect(try lines.prefix(2).map { try JSON(parsing: $0) } == Self.devices.prefix(2).compactMap { $0["installation"] })
        #expect(try JSON(parsing: lines[2]) == Self.devices[2])
    }

    @Test func `the lines of Azure's jobs leave out installations and count them`() async throws {
        let (lines, summary, _) = try await export(.azure)
        #expect(lines == [Self.devices[2]["registration"]?.string] && summary == DeviceExport.Summary(written: 1, left: 2))
    }

    @Test func `CSV has the columns that an import reads`() async throws {
        let (lines, summary, _) = try await export(.csv)
        let browser = #"tab,browser,"{""endpoint"":""https://push.example/1"",""p256dh"":""B"",""auth"":""a""}",,"#
        #expect(lines == ["id,platform,token,user,tags", "pad,fcm,abc,ana,a b", browser, ",apns,\(Self.token),,c d"])
        #expect(summary.written == 3)
        var parser = DeviceLineParser(format: .csv, hasTextTemplate: false)
        try parser.readHeader(Array(lines[0].utf8))
        let device = try #require(try parser.device(Array(lines[1].utf8)))
        #expect(try JSON(parsing: device.json)["installation"]?["tags"] == ["a", "b"] && device.key == "ipad")
    }

    @Test func `a file appears under its name once it is complete`() async throws {
        let folder = try ScriptFolder()
        let path = folder.url.appending(path: "devices.csv").path
        func content() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        do {
            let file = try NewFile(path, replacing: false)
            try file.line("a")
            #expect((try? content()) == nil)
        }
        #expect((try? content()) == nil)
        let file = try NewFile(path, replacing: false)
        try file.line("b")
        try file.finish()
        #expect(try content() == "b\n")
        #expect(await refusal { try NewFile(path, replacing: false) }?.code == "usage.value")
        let next = try NewFile(path, replacing: true)
        try next.line("c")
        try next.finish()
        #expect(try content() == "c\n")
    }
}
