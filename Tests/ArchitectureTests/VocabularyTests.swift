import Testing

/// Texts and names use the words of the field. `words.py` has the old words, with exceptions and their reasons.
@Suite struct VocabularyTests {
    private struct Report: Decodable, Sendable {
        struct Occurrence: Decodable, Sendable {
            let file: String
            let line: Int
            let word: String
            let text: String
            let instead: String
        }

        let occurrences: [Occurrence]
        let unusedExceptions: [String]
    }

    @Test func `messages, help, pages, comments and names of tests have no old words`() async throws {
        let report = try await Package.report(Report.self, from: "words.py")
        for one in report.occurrences {
            Issue.record("\(one.file):\(one.line) has \"\(one.word)\" (instead: \(one.instead)): \(one.text)")
        }
        for exception in report.unusedExceptions {
            Issue.record("remove the exception \"\(exception)\" from words.py: it is not needed any more")
        }
    }

    /// Types with an old word in their names. The list may only shrink.
    private static let exceptions: Set<String> = [
        // Public API.
        "Sources/PushHostKit/Values/DeviceGroup.swift: Fate"
    ]

    @Test func `no type has an old word in its name`() throws {
        let declaration = /\b(?:class|struct|enum|actor|protocol|typealias) +([A-Za-z_][A-Za-z0-9_.]*)/
        let words = [
            "Leave", "Rooms?", "Crowds?", "PutOffs?", "Patience", "Twins?", "Endings", "Turns", "Places?", "Moments?", "MixUp", "Kept",
            "Troubles?",
            "Witness", "Fate", "News", "FirstScreen", "Attended", "Misfits?", "Complaints?", "Settled", "Depart(?:ure|ed)s?", "Heard",
            "Told",
            "Asked", "Begun", "Upkeep", "Shelf", "Parcels?", "Standing", "Essence", "Farewell",
        ]
        let old = try Regex("(?:\(words.joined(separator: "|")))(?![a-z])")
        var found: Set<String> = []
        for file in try Package.swiftFiles(in: "Sources") + Package.swiftFiles(in: "Tests") {
            for line in file.declarationsOfTypes {
                for match in line.text.matches(of: declaration) where match.1.firstMatch(of: old) != nil {
                    found.insert("\(file.path): \(match.1)")
                }
            }
        }
        for name in found.subtracting(Self.exceptions).sorted() { Issue.record("rename the type \(name)") }
        for name in Self.exceptions.subtracting(found).sorted() {
            Issue.record("remove the exception \(name): it is not needed any more")
        }
    }

    /// Files with a declaration that has an old word as its name. The list may only shrink.
    private static let exceptionsOfDeclarations: Set<String> = [
        // Public API.
        "Sources/PushHostKit/Values/DeviceGroup.swift: fate"
    ]

    /// Only words that have no other meaning: `place`, for example, is also a verb.
    @Test func `nothing is declared with an old word as its name`() throws {
        let names = [
            "moments?", "patience", "departures?", "departed", "dawn", "hush", "cure", "witness", "misfit", "troubles?", "underWay",
            "hasBegun",
            "farewell", "parcels?", "forGood", "giveBack", "givesBack", "cutOff", "putOff", "goOn", "unkept", "isKept", "told",
            "anew", "twins?", "fates?", "complaints?", "news", "rooms?", "hasRoom", "makeRoom", "kept", "gone", "theirs", "said", "goesOn",
        ]
        let name = "(\(names.joined(separator: "|")))"
        // As a method, `leave` is a verb that is allowed.
        let declaration = try Regex("\\b(?:(?:var|let|func|case|for) +(?:\\((?:\\w+, )*)?\(name)|(?:var|let) +(leave))\\b")
        // A parameter of a function or a closure, or a member of a tuple.
        let parameter = try Regex("(?:^ *|[(,{] *)(?:\\w+ +)?\(name)(?::| in\\b)")
        var excepted: Set<String> = []
        for file in try Package.swiftFiles(in: "Sources") {
            for line in file.code(with: names.map { $0.replacing("s?", with: "") } + ["leave"]) {
                guard let match = line.text.firstMatch(of: declaration) ?? line.text.firstMatch(of: parameter) else { continue }
                let word = match.output.dropFirst().compactMap(\.substring).first ?? ""
                if Self.exceptionsOfDeclarations.contains("\(file.path): \(word)") {
                    excepted.insert("\(file.path): \(word)")
                } else {
                    Issue.record("\(file.path):\(line.number) declares the old word \(word): \(line.text)")
                }
            }
        }
        #expect(excepted == Self.exceptionsOfDeclarations, "an exception is not needed")
    }
}
