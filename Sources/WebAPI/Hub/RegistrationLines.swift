import HubWire
package import PushModel

/// Lines of import and export files: one registration description per line, in the XML of requests and responses.
package struct RegistrationLines: RegistrationCodec {
    package init() {}

    package var maximumSize: Int { RegistrationXMLReader.maximumSize }

    package func line(_ registration: Registration) -> [UInt8] {
        var writer = XMLWriter()
        RegistrationXML.write(registration, into: &writer, expiration: .zoned)
        return Self.onOneLine(writer.bytes)
    }

    package func id(of line: [UInt8]) throws(PushError) -> RegistrationID? {
        try Self.id(try AtomEntry.description(in: line, limit: maximumSize))
    }

    package func registration(of line: [UInt8]) throws(PushError) -> (id: RegistrationID?, description: RegistrationDescription) {
        let element = try AtomEntry.description(in: line, limit: maximumSize)
        return (try Self.id(element), try RegistrationXMLReader.description(element))
    }

    private static func id(_ element: XMLElement) throws(PushError) -> RegistrationID? {
        guard let text = element.text(of: "RegistrationId")?.trimmed.nonEmpty else { return nil }
        guard let id = RegistrationID(text) else {
            throw PushError(
                "registration.invalid", "invalid registration id \"\(text)\"", hint: "leave it out to get a new one", status: 400)
        }
        return id
    }

    /// Replaces line ends by character references. CDATA sections cannot contain these, so a section is closed before and reopened after.
    private static func onOneLine(_ document: [UInt8]) -> [UInt8] {
        guard document.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return document }
        let (start, end) = (Array("<![CDATA[".utf8), Array("]]>".utf8))
        var line: [UInt8] = []
        var isInSection = false
        for (index, byte) in document.enumerated() {
            if byte == UInt8(ascii: "<"), !isInSection, document[index...].starts(with: start) { isInSection = true }
            if byte == UInt8(ascii: "]"), isInSection, document[index...].starts(with: end) { isInSection = false }
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                continue
            }
            if isInSection { line += end }
            line += Array("&#\(byte);".utf8)
            if isInSection { line += start }
        }
        return line
    }
}
