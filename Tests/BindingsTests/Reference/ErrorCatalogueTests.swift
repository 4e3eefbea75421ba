import Lua
import PushModel
import Testing

@testable import Bindings

@Suite struct ErrorCatalogueTests {
    /// A line of the sources that has a code.
    private struct Occurrence {
        var code: String
        /// `FILE:LINE`
        var location: String
        /// The text before it without blanks, such as `throwPushError(`.
        var context: String
    }

    /// Every literal in the sources that has the form of a code.
    private static let occurrences: [Occurrence] = {
        var occurrences: [Occurrence] = []
        var kinds: Set<String> = []
        for file in (try? PackageText.files()) ?? []
        where !file.path.hasPrefix("Simulators/") || file.path.hasPrefix("Simulators/Server/") {
            var previous: Substring = ""
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                defer { previous = line }
                let text = line.drop { $0 == " " }
                guard text.contains("\""), !text.hasPrefix("//"), !text.hasPrefix("--") else { continue }
                let location = "\(file.path):\(number + 1)"
                for match in line.matches(of: /"([a-z_]+\.[a-z_]+)"/) {
                    let before = "\(previous)\(line[..<match.range.lowerBound])".filter { !$0.isWhitespace }
                    occurrences.append(Occurrence(code: String(match.1), location: location, context: before))
                }
                for match in line.matches(of: /(?:error|warning)\[([a-z_]+\.[a-z_]+)\]/) {
                    occurrences.append(Occurrence(code: String(match.1), location: location, context: ""))
                }
                for match in line.matches(of: /code: "(cancelled)"/) {
                    occurrences.append(Occurrence(code: String(match.1), location: location, context: "kind:.cancelled,code:"))
                }
                for match in line.matches(of: /kind: "([a-z]+)"/) { kinds.insert(String(match.1)) }
            }
            // The codes of file readers are composed of a kind of file and a fault.
            guard file.path == "PushRuntime/Files/TextFile.swift" else { continue }
            for match in file.text.matches(of: /fail\("([a-z_]+)"/) {
                occurrences.append(Occurrence(code: "*.\(match.1)", location: file.path, context: ""))
            }
        }
        let composed = occurrences.filter { $0.code.hasPrefix("*.") }
        return occurrences.filter { !$0.code.hasPrefix("*.") }
            + kinds.flatMap { kind in
                composed.map { Occurrence(code: kind + $0.code.dropFirst(), location: $0.location, context: $0.context) }
            }
    }()

    /// Literals that have the form of a code and are something else: names of functions, files, settings and wire fields.
    private static func isOther(_ text: String) -> Bool {
        let files = [".h", ".json", ".lua", ".md", ".com", ".yaml", ".sock", ".sqlite"]
        let settings = [
            "listen.", "limits.", "network.", "keep.", "jobs.", "log.", "tls.certificate", "tls.key", "tls.names", "backend.hub",
            "backend.variant", "backend.tutorial_mode", "lab.tls_port", "lab.phones", "lab.token_updates", "lab.strict", "hub.empty_tags",
            "hub.listen_user_id",
            "apns.", "fcm.", "wns.", "webpush.", "delivery.", "feedback.",
            "guard.",
        ]
        return text.hasPrefix("push.") || text.hasPrefix("os.") || text.hasPrefix("host.") && text != "host.error"
            || text.hasPrefix("message.") || ["payload.key", "key.file", "ld.so"].contains(text) || HostFunctions.absent.keys.contains(text)
            || Capability.forms.contains { $0 == text || $0.hasPrefix(text + ":") }
            || files.contains(where: text.hasSuffix)
            || settings.contains(where: text.hasPrefix)
            || (AuditAction(rawValue: text) != nil || HubEvent.Kind(rawValue: text) != nil) && ErrorCatalogue.entry(text) == nil
    }

    @Test func `every code of the sources has a page`() {
        #expect(Self.occurrences.count > 150)
        for occurrence in Self.occurrences where !Self.isOther(occurrence.code) {
            #expect(
                ErrorCatalogue.entry(occurrence.code) != nil, "\(occurrence.location) has \(occurrence.code), which is not in the catalogue"
            )
        }
    }

    /// Codes that only older versions raise. Their pages stay.
    private static let retired: Set<String> = ["native.late"]

    @Test func `every page is about a code of the sources`() {
        let raised = Set(Self.occurrences.map(\.code)).union(Self.retired)
        for entry in ErrorCatalogue.all where !raised.contains(entry.code) {
            Issue.record("no source raises \(entry.code)")
        }
    }

    @Test func `the kind of a code matches its uses in the sources`() {
        let endings: [(String, Set<ErrorDescription.Kind>)] = [
            ("misuse(", [.misuse, .program]), ("failure(", [.failure, .log]),
            ("PushError(", [.failure, .refusal, .answer, .breakdown, .log, .line, .test, .program]),
            ("FlowWarning(code:", [.warning]), ("\"misuse\",", [.misuse]), ("kind=\"misuse\",code=", [.misuse]),
            ("kind=\"failure\",code=", [.failure, .test]), ("kind:.budget,code:", [.budget]),
            ("kind:.failure,code:", [.failure, .log, .test, .program]),
            ("kind:.misuse,code:", [.misuse, .program]), ("kind:.runtime,code:", [.runtime]), ("kind:.cancelled,code:", [.cancelled]),
        ]
        var known = 0
        for occurrence in Self.occurrences {
            guard let entry = ErrorCatalogue.entry(occurrence.code),
                let ending = endings.first(where: { occurrence.context.hasSuffix($0.0) })
            else { continue }
            known += 1
            #expect(!ending.1.isDisjoint(with: entry.kinds), "\(occurrence.location): \(occurrence.code) is \(ending.1)")
        }
        #expect(known > 100)
    }

    @Test func `every code of a binding has a page, and the page names the binding`() {
        for binding in BindingRegistry.standard.bindings {
            for code in binding.errors {
                #expect(ErrorCatalogue.entry(code) != nil)
                let names = BindingRegistry.standard.bindings(raising: code).map(\.name)
                #expect(names.contains(binding.name), "\(code) of \(binding.name)")
            }
        }
    }

    @Test func `codes are unique and begin with the name of their area`() {
        let codes = ErrorCatalogue.all.map(\.code)
        #expect(Set(codes).count == codes.count)
        #expect(Set(ErrorCatalogue.areas.map(\.name)).count == ErrorCatalogue.areas.count)
        for area in ErrorCatalogue.areas {
            #expect(!area.entries.isEmpty, "\(area.name)")
            for entry in area.entries where entry.code != "cancelled" {
                #expect(entry.code.hasPrefix("\(area.name)."), "\(entry.code)")
            }
        }
    }

    @Test(arguments: ErrorCatalogue.all.map(\.code))
    func `a page consists of whole sentences`(code: String) throws {
        let entry = try #require(ErrorCatalogue.entry(code))
        for text in [entry.summary, entry.occasion, entry.fix] {
            #expect(text.last == ".", "\(text)")
            #expect(!text.contains("  "), "\(text)")
        }
        #expect(entry.fix != entry.occasion)
        if let example = entry.example { #expect(example.mistake != example.fix) }
    }

    @Test func `the effects of an error have a line per place, and an HTTP status in a page adds one`() throws {
        func effects(_ code: String) throws -> [String] { try #require(ErrorCatalogue.entry(code)).effects }
        let timeout = try effects("target.timeout")
        #expect(timeout.map { $0.prefix { $0 != ":" } } == ["In a script", "Command", "In a script"])
        #expect(try effects("control.unreachable") == ["Command: exit code 4."])
        #expect(try effects("hub.gone").last == "HTTP: an error response. A command that receives it: exit code 4.")
        #expect(try effects("approval.own") == ["HTTP: an error response. A command that receives it: exit code 5."])
        for entry in ErrorCatalogue.all {
            #expect(!entry.effects.isEmpty && Set(entry.effects).count == entry.effects.count, "\(entry.code)")
            #expect(!entry.effects.joined().contains(", ."), "\(entry.code)")
        }
    }

    @Test(
        arguments: [
            ("args.unknown_key", [3]), ("hub.gone", [1]), ("script.syntax", [3]), ("script.error", [1]), ("budget.tasks", [3]),
            ("usage.option", [2]), ("script.not_found", [2, 1]), ("target.unsupported", [4]), ("hub.no_target", []),
            ("payload.invalid", [1, 3]), ("cancelled", [1]), ("control.unreachable", [4]), ("backup.failed", [1]), ("init.failed", [1]),
            ("target.timeout", [4]), ("credential.invalid", [2]), ("plugin.spec", []),
        ] as [(String, [Int32])])
    func `the exit codes follow from the kind of a code`(code: String, expected: [Int32]) throws {
        #expect(try #require(ErrorCatalogue.entry(code)).exitCodes == expected)
    }
}
