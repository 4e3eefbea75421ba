import Testing

/// No code recognizes text for people: what a program must know is a value (decision 27). `comparisons.py` finds the code that may.
@Suite struct TextComparisonTests {
    private struct Report: Decodable, Sendable {
        struct Comparison: Decodable, Sendable {
            let line: Int
            let text: String
        }

        /// By the name of the file.
        let comparisons: [String: [Comparison]]
    }

    /// The files that compare such text, with the number of lines that do. A number may only shrink.
    private static let exceptions: [String: Int] = [
        // Messages of the Lua machine and of its compiler.
        "ErrorExplainer.swift": 5,
        "LuaDiagnostic.swift": 5,
        "InteractiveChunk.swift": 1,
        "Errors.swift": 1,
        // Azure's sentences.
        "OutcomeXMLReader.swift": 3,
        // Google's message: for an invalid argument, only this says whether the registration token is meant.
        "FCMAnswer.swift": 1,
        // Labels of keys in PEM.
        "APNsSigningKey.swift": 1,
        "CredentialText.swift": 1,
        "PEMBlock.swift": 1,
        // Sentences of older versions, in the only files that know them.
        "NoticeMigration.swift": 4,
        "OutcomeSentences.swift": 3,
        // Whether two errors are the same one.
        "FlowSession.swift": 1,
        "TestRecord.swift": 2,
        "Readiness.swift": 1,
        // A value within a message: a path, and a secret.
        "SecretMasker.swift": 1,
        "CredentialFile.swift": 1,
        // The lines of a message.
        "Diagnostic.swift": 1,
    ]

    @Test func `no code compares or searches text for people`() async throws {
        let found = try await Package.report(Report.self, from: "comparisons.py").comparisons
        for (name, comparisons) in found.sorted(by: { $0.key < $1.key }) where comparisons.count > Self.exceptions[name, default: 0] {
            let lines = comparisons.map { "\($0.line): \($0.text)" }.joined(separator: "\n")
            Issue.record("\(name) compares text for people; compare a value instead:\n\(lines)")
        }
        for (name, count) in Self.exceptions.sorted(by: { $0.key < $1.key }) where found[name, default: []].count < count {
            Issue.record("lower the exception for \(name) to \(found[name, default: []].count)")
        }
    }
}
