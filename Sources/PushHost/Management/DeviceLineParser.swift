import HubWire
import PushModel

/// Reads devices from the lines of a file, in the form in which the server imports them.
struct DeviceLineParser: Sendable {
    /// The format of a file of devices.
    enum Format: String, CaseIterable, Sendable {
        /// A header line, then a line for each device.
        case csv
        /// An installation as JSON in each line.
        case ndjson
        /// A registration as XML in each line, as Azure's jobs read and write it.
        case azure

        /// The format that the extension of a file names; nil for an unknown one.
        init?(path: String) {
            switch path.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased() {
            case "csv": self = .csv
            case "ndjson", "jsonl": self = .ndjson
            case "xml", "txt": self = .azure
            default: return nil
            }
        }
    }

    /// A device of one line.
    struct Device {
        /// A member of the request's `devices`, as JSON.
        var json: [UInt8]
        /// Text that is different for devices that do not affect each other.
        var key: String
    }

    let format: Format
    /// The platform of lines that name none; CSV only.
    var platform: String?
    /// Whether devices get a template that shows the text of a send; CSV only.
    var hasTextTemplate = true
    private var columns: [CSVLine.Column] = []

    init(format: Format, platform: String? = nil, hasTextTemplate: Bool = true) {
        (self.format, self.platform, self.hasTextTemplate) = (format, platform, hasTextTemplate)
    }

    /// Whether the first line names the columns.
    var hasHeader: Bool { format == .csv }

    /// Reads the names of the columns. Throws `usage.value`.
    mutating func readHeader(_ line: [UInt8]) throws(PushError) {
        columns = try CSVLine.columns(of: try Self.text(line))
        let required: [CSVLine.Column] = platform == nil ? [.token, .platform] : [.token]
        for column in required where !columns.contains(column) {
            throw PushError(
                "usage.value", "the header has no column \(column.rawValue)",
                hint: column == .platform ? "add it, or pass --platform" : "begin the file with a line such as \(CSVLine.example)")
        }
    }

    /// The device of a line; nil for an empty line. Throws `usage.value` and the errors of an invalid device.
    func device(_ line: [UInt8]) throws(PushError) -> Device? {
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return nil }
        let text = try Self.text(line)
        switch format {
        case .csv: return try csv(text)
        case .ndjson: return try json(line)
        case .azure: return Self.registration(text)
        }
    }

    private static func text(_ line: [UInt8]) throws(PushError) -> String {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw PushError("usage.value", "the line is not UTF-8", hint: "convert the file to UTF-8")
        }
        return text
    }

    private func csv(_ text: String) throws(PushError) -> Device {
        let fields = try CSVLine.fields(text)
        guard fields.count <= columns.count else {
            throw PushError(
                "usage.value", "the line has \(fields.count) fields, and the header \(columns.count)", hint: "quote fields with commas")
        }
        var device = DeviceDescription(platform: platform ?? "", token: "", hasTextTemplate: hasTextTemplate)
        for (column, field) in zip(columns, fields) where !field.isEmpty {
            switch column {
            case .id: device.id = field
            case .platform: device.platform = field
            case .token: device.token = field
            case .user: device.user = field
            case .tags: device.tags = field.split(whereSeparator: { " ,;|\t".contains($0) }).map(String.init)
            }
        }
        let installation = try device.installation()
        return Self.installation(InstallationJSON.document(installation), id: installation.id)
    }

    private func json(_ line: [UInt8]) throws(PushError) -> Device {
        guard let parsed = try? JSON(parsing: line, numbers: .lossless), var object = parsed.object else {
            throw PushError("usage.value", "the line is not a JSON object", hint: "write one installation in each line")
        }
        if let registration = object["registration"]?.string, object.count == 1 { return Self.registration(registration) }
        if object["installationId"] == nil, let platform = object["platform"]?.string, let channel = object["pushChannel"] {
            let description = DeviceDescription(platform: platform, token: channel.string ?? channel.text())
            object["installationId"] = .string(try description.installation().id)
        }
        return Self.installation(JSON.object(object).serialized(), id: object["installationId"]?.string ?? "")
    }

    private static func installation(_ document: [UInt8], id: String) -> Device {
        Device(json: Array("{\"installation\":".utf8) + document + [UInt8(ascii: "}")], key: "i\(id.lowercased())")
    }

    private static func registration(_ text: String) -> Device {
        let json: JSON = ["registration": .string(text)]
        return Device(json: json.serialized(), key: "r\(registrationID(in: text) ?? text)")
    }

    /// The id in a registration's XML; nil if there is none.
    private static func registrationID(in text: String) -> String? {
        guard let start = text.firstRange(of: "<RegistrationId>"), let end = text[start.upperBound...].firstRange(of: "<"),
            start.upperBound < end.lowerBound
        else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }
}

/// A line of a CSV file of devices.
enum CSVLine {
    enum Column: String, CaseIterable, Sendable {
        case id, platform, token, user, tags

        private static let aliases: [String: Column] = [
            "installationid": .id, "device": .id, "pushchannel": .token, "handle": .token, "userid": .user, "username": .user, "tag": .tags,
        ]

        init?(_ name: String) {
            let name = name.lowercased().filter { $0 != " " && $0 != "_" }
            guard let column = Column(rawValue: name) ?? Self.aliases[name] else { return nil }
            self = column
        }
    }

    static let example = Column.allCases.map(\.rawValue).joined(separator: ",")

    /// A line with these fields, quoted where necessary.
    static func line(_ fields: [String]) -> String {
        fields.map { field in
            guard field.utf8.contains(where: { [0x2C, 0x22, 0x0A, 0x0D].contains($0) }) else { return field }
            return "\"\(field.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",")
    }

    /// Throws `usage.value` for an unknown or repeated column.
    static func columns(of header: String) throws(PushError) -> [Column] {
        var columns: [Column] = []
        for name in try fields(header) {
            guard let column = Column(name) else {
                throw PushError(
                    "usage.value", "unknown column \"\(name.prefix(40))\"", hint: "begin the file with a line such as \(example)")
            }
            guard !columns.contains(column) else {
                throw PushError("usage.value", "the column \(column.rawValue) is named twice", hint: "remove one of the two columns")
            }
            columns.append(column)
        }
        return columns
    }

    /// The fields of a line. Throws `usage.value` if a quoted field has no end.
    static func fields(_ line: String) throws(PushError) -> [String] {
        var fields: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var bytes = Array(line.utf8)
        if bytes.last == 0x0D { bytes.removeLast() }
        let quote = UInt8(ascii: "\"")
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isQuoted, byte == quote, index + 1 < bytes.count, bytes[index + 1] == quote {
                field.append(quote)
                index += 1
            } else if byte == quote, isQuoted || field.isEmpty {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                fields.append(String(decoding: field, as: UTF8.self))
                field = []
            } else {
                field.append(byte)
            }
            index += 1
        }
        guard !isQuoted else {
            throw PushError("usage.value", "a quoted field has no end in this line", hint: "write each device in one line")
        }
        fields.append(String(decoding: field, as: UTF8.self))
        return fields.map(\.trimmed)
    }
}
