import Bindings
import Lua
import PushModel

/// Writes test results as JUnit XML, as CI servers read it. Times are real seconds. Virtual times are properties, which are the same for
/// the same specs.
struct JUnitReport {
    private(set) var bytes: [UInt8] = []

    init(_ files: [TestFile], _ summary: TestSummary) {
        text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        open(
            "testsuites",
            [
                ("name", "pushhost"), ("tests", "\(summary.ran + summary.broken)"), ("failures", "\(summary.failed)"),
                ("errors", "\(summary.broken)"), ("skipped", "\(summary.pending)"), ("time", seconds(summary.realDuration)),
            ])
        for file in files { write(file) }
        text("</testsuites>\n")
    }

    private mutating func write(_ file: TestFile) {
        let total = file.records.reduce(Duration.zero) { $0 + $1.realDuration }
        let broken = file.failure == nil ? 0 : 1
        open(
            "testsuite",
            [
                ("name", file.script.name), ("tests", "\(file.records.count + broken)"),
                ("failures", "\(file.records.count { $0.status == .failed })"), ("errors", "\(broken)"),
                ("skipped", "\(file.records.count { $0.status == .pending })"), ("time", seconds(total)),
            ])
        virtual(file.records.reduce(Duration.zero) { $0 + $1.duration })
        if let failure = file.failure {
            open("testcase", [("classname", file.script.name), ("name", file.script.name), ("time", "0.000")])
            fault("error", failure)
            text("</testcase>\n")
        }
        for record in file.records { write(record, of: file) }
        text("</testsuite>\n")
    }

    private mutating func write(_ record: TestRecord, of file: TestFile) {
        var attributes = [
            ("classname", ([file.script.name] + record.test.groups).joined(separator: " › ")), ("name", record.test.name),
            ("file", file.script.name),
        ]
        if let line = record.test.location?.line { attributes.append(("line", "\(line)")) }
        attributes.append(("time", seconds(record.realDuration)))
        open("testcase", attributes)
        virtual(record.duration)
        if record.status == .pending { text("<skipped/>\n") }
        for failure in record.failures { fault("failure", failure) }
        if !record.log.isEmpty {
            text("<system-out>")
            escaped(record.log.joined(separator: "\n"))
            text("</system-out>\n")
        }
        text("</testcase>\n")
    }

    /// Writes a duration of the virtual clock as a property.
    private mutating func virtual(_ duration: Duration) {
        text("<properties>\n<property")
        attribute("name", "virtual_seconds")
        attribute("value", seconds(duration))
        text("/>\n</properties>\n")
    }

    private mutating func fault(_ element: String, _ error: LuaError) {
        text("<\(element)")
        attribute("message", error.message)
        attribute("type", error.code)
        text(">")
        let place = error.location.map { ["\($0)"] } ?? []
        escaped((place + [error.message] + (error.hint.map { ["help: \($0)"] } ?? [])).joined(separator: "\n"))
        text("</\(element)>\n")
    }

    private mutating func open(_ element: String, _ attributes: [(String, String)]) {
        text("<\(element)")
        for (name, value) in attributes { attribute(name, value) }
        text(">\n")
    }

    private mutating func attribute(_ name: String, _ value: String) {
        text(" \(name)=\"")
        XMLEscaping.attribute(value, into: &bytes)
        text("\"")
    }

    private mutating func escaped(_ value: String) { XMLEscaping.text(value, into: &bytes) }

    private mutating func text(_ value: String) { bytes += value.utf8 }

    private func seconds(_ duration: Duration) -> String {
        let milliseconds = Int(duration.milliseconds)
        return "\(milliseconds / 1000).\((milliseconds % 1000).padded(3))"
    }
}
