import PushModel
import Support
import Testing

@testable import PushHost

/// Lines of files of devices.
@Suite struct DeviceLineParserTests {
    private static let token = String(repeating: "0A", count: 32)

    private func csv(_ header: String, platform: String? = nil, hasTextTemplate: Bool = false) throws -> DeviceLineParser {
        var parser = DeviceLineParser(format: .csv, platform: platform, hasTextTemplate: hasTextTemplate)
        try parser.readHeader(Array(header.utf8))
        return parser
    }

    private func installation(_ parser: DeviceLineParser, _ line: String) throws -> JSON {
        let device = try #require(try parser.device(Array(line.utf8)))
        return try #require(try JSON(parsing: device.json)["installation"])
    }

    @Test func `the extension of a file names its format`() {
        let formats = ["a.csv", "b/c.NDJSON", "a.jsonl", "a.txt", "Output.xml", "a.json", "-", "csv"].map {
            DeviceLineParser.Format(path: $0)
        }
        #expect(formats == [.csv, .ndjson, .ndjson, .azure, .azure, nil, nil, .csv])
    }

    @Test func `a CSV line is a device with the columns of the header in any order`() throws {
        let parser = try csv("User ID,push_channel,platform,tags,installation_id", hasTextTemplate: true)
        let device = try installation(parser, "ana, \(Self.token.lowercased()) ,apple,\"sports, news;quiet\",pad")
        #expect(device["installationId"] == "pad" && device["userId"] == "ana" && device["platform"] == "apns")
        #expect(device["pushChannel"]?.string == Self.token && device["tags"] == ["sports", "news", "quiet"])
        #expect(device["templates"]?["message"]?["body"] == #"{"aps":{"alert":"$(message)"}}"#)
    }

    @Test func `fields may be missing at the end of a line, and the platform may be given for all`() throws {
        let parser = try csv("token,user", platform: "fcm")
        let device = try installation(parser, "abc")
        #expect(device["platform"] == "fcmV1" && device["userId"] == nil && device["templates"] == nil)
        #expect(device["installationId"]?.string?.hasPrefix("d-") == true)
        #expect(try installation(parser, "abc,ana")["installationId"] == device["installationId"])
        #expect(try parser.device(Array(" \t".utf8)) == nil)
    }

    @Test func `quotes in a quoted field are doubled`() throws {
        #expect(try CSVLine.fields(#"a,"b ""c"", d",,e"# + "\r") == ["a", #"b "c", d"#, "", "e"])
        #expect(throws: PushError.self) { try CSVLine.fields(#"a,"b"#) }
    }

    @Test(arguments: [
        ("id,platform,tokn", "unknown column \"tokn\""), ("token,platform,handle", "the column token is named twice"),
        ("id,platform", "the header has no column token"), ("id,token", "the header has no column platform"),
    ])
    func `an unusable header is refused`(header: String, message: String) async {
        let error = await refusal { try csv(header) }
        #expect(error?.code == "usage.value" && error?.message == message)
    }

    @Test func `invalid lines are refused with their reason`() async throws {
        let parser = try csv("platform,token,tags")
        for (line, code) in [
            ("apns,short", "handle.invalid"), ("apnz,x", "usage.value"), ("apns,\(Self.token),a b,c", "usage.value"),
            ("apns,\(Self.token),a!", "tag.invalid"),
        ] {
            #expect(await refusal { try parser.device(Array(line.utf8)) }?.code == code, "\(line)")
        }
        #expect(await refusal { try parser.device([0xFF, 0xFE]) }?.message == "the line is not UTF-8")
        #expect(await refusal { try DeviceLineParser(format: .ndjson).device(Array("[1]".utf8)) }?.code == "usage.value")
    }

    @Test func `an installation as JSON is sent as it is, with an id if it has none`() throws {
        let parser = DeviceLineParser(format: .ndjson)
        let whole = #"{"installationId":"Pad","platform":"apns","pushChannel":"x","pushVariables":{"price":12.50}}"#
        let device = try #require(try parser.device(Array(whole.utf8)))
        #expect(String(decoding: device.json, as: UTF8.self) == "{\"installation\":\(whole)}" && device.key == "ipad")
        let unnamed = try installation(parser, #"{"platform":"gcm","pushChannel":"abc"}"#)
        #expect(unnamed["installationId"]?.string?.hasPrefix("d-") == true && unnamed["pushChannel"] == "abc")
    }

    @Test func `a registration as XML is sent as text`() throws {
        let parser = DeviceLineParser(format: .azure)
        let line = "<AppleRegistrationDescription><RegistrationId>1-2-3</RegistrationId></AppleRegistrationDescription>"
        let device = try #require(try parser.device(Array(line.utf8)))
        #expect(try JSON(parsing: device.json) == ["registration": .string(line)] && device.key == "r1-2-3")
        let unnamed = "<AppleRegistrationDescription><RegistrationId></RegistrationId></AppleRegistrationDescription>"
        #expect(try parser.device(Array(unnamed.utf8))?.key == "r\(unnamed)")
        let nested = try DeviceLineParser(format: .ndjson).device(Array(#"{"registration":"<a/>"}"#.utf8))
        #expect(nested.map { String(decoding: $0.json, as: UTF8.self) } == #"{"registration":"<a/>"}"#)
    }
}
