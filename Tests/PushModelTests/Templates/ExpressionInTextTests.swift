import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct ExpressionInTextTests {
    @Test(
        arguments: [
            ("Hi $(name)", "$(name)", "{'Hi ' + $(name)}"), (" $(name)", "$(name)", "{' ' + $(name)}"),
            ("It's $(name)'s $(thing, 5)!", "$(name)", "{'It''s ' + $(name) + '''s ' + $(thing, 5) + '!'}"),
            ("a .(title, 10)", ".(title, 10)", "{'a ' + .(title, 10)}"),
            ("https://x.example/?q=%(term)", "%(term)", "{'https://x.example/?q=' + %(term)}"),
            ("Order #(number)", "#(number)", "{'Order ' + $(number)}"), ("5 for $(1)", "$(1)", "{'5 for ' + $(1)}"),
            ("Hi $(name:{you})", "$(name:{you})", "{'Hi ' + $(name:{you})}"), ("x$( name )", "$( name )", "{'x' + $( name )}"),
            ("Hi {$(name)}", "{$(name)}", "{'Hi ' + $(name)}"), ("Hi { #(number) }!", "{ #(number) }", "{'Hi ' + $(number) + '!'}"),
            ("Hi {$(name) + ' and ' + $(thing)}", "{$(name) + ' and ' + $(thing)}", "{'Hi ' + $(name) + ' and ' + $(thing)}"),
        ])
    func `an expression inside text is found, with a suggested replacement`(text: String, expression: String, replacement: String) throws {
        let template = try Template(compiling: JSON.object(["aps": ["alert": .string(text)]]).text())
        let found = template.embeddedExpressions
        #expect(found.map(\.text) == [text] && found.map(\.expression) == [expression] && found.map(\.replacement) == [replacement])
        // The replacement gives the text that was intended.
        let values = TemplateProperties(["name": "Ana", "thing": "bicycle", "title": "News", "term": "a b", "number": "7", "1": "2"])
        let meant = try TemplateExpression(parsing: replacement).evaluate(values)
        #expect(
            !meant.contains("(")
                && meant.hasPrefix(String(text.prefix { $0 != "$" && $0 != "." && $0 != "%" && $0 != "#" && $0 != "'" && $0 != "{" })))
    }

    @Test(
        arguments: [
            "plain", "$(name)", "{'Hi ' + $(name)}", "costs 5$ (net)", "Hi $name", "see (a)", "etc.(see below)", "ticket #(1)", "5 %(2)",
            "Hi $(", "Hi $(a", "Hi $()", "Hi $(a b)", "Hi {'you'}", "Hi {you}", "Hi {}",
        ])
    func `a value that is an expression, or text that only looks like one, is not reported`(text: String) throws {
        #expect(try Template(compiling: JSON.object(["a": .string(text)]).text()).embeddedExpressions.isEmpty)
    }

    @Test func `it is found in JSON and in XML with its position, once per value and never in member names`() throws {
        let json = #"{"$(key) x":"a","b":["\u00e9 $(n) $(m)",{"c":"x $(o)"}]}"#
        let found = try Template(compiling: json).embeddedExpressions
        #expect(found.map(\.expression) == ["$(n)", "$(o)"])
        #expect(found.map { Array(json.utf8)[$0.offset...].prefix(4) }.map { String(decoding: $0, as: UTF8.self) } == ["$(n)", "$(o)"])
        let xml = "<toast a='Hi $(n)'><text>&lt;b $(o)</text><!-- c $(p) --></toast>"
        #expect(try Template(compiling: xml).embeddedExpressions.map(\.replacement) == ["{'Hi ' + $(n)}", "{'<b ' + $(o)}"])
    }

    @Test func `it is found in the headers of a template too, after those of the body`() throws {
        let headers = [
            PushHeader("apns-collapse-id", "id-$(name)"), PushHeader("apns-topic", "$(topic)"), PushHeader("apns-id", "{'a' + $(id)}"),
        ]
        let template = try RegistrationTemplate(body: #"{"aps":{"alert":"Hi $(name)"}}"#, headers: headers, platform: .apns)
        let found = template.embeddedExpressions
        #expect(found.map(\.header) == [nil, "apns-collapse-id"] && found.map(\.offset) == [20, 3])
        #expect(
            found.last?.warning == "the value \"id-$(name)\" of the template's header apns-collapse-id is sent literally: "
                + "$(name) is replaced only if it is the whole value; write {'id-' + $(name)}")
    }

    @Test func `a value that fits into no notification is not examined`() throws {
        let unclosed = String(repeating: "x$(a:{", count: 2_000)
        #expect(try Template(compiling: JSON.object(["a": .string(unclosed + "$(b)")]).text()).embeddedExpressions.isEmpty)
    }

    @Test func `a hub warns about it when a template is stored, once per template`() async throws {
        let bench = try HubBench()
        func warnings() -> [String] { bench.events.filter(\.isWarning).map(\.text) }
        let body = #"{"aps":{"alert":"Hi $(name)"}}"#
        try await bench.register(.phone(1), template: #"{"aps":{"alert":"$(name)"}}"#)
        #expect(warnings().isEmpty)
        try await bench.register(.phone(1), template: body)
        let warning =
            "hub \"hub\": the template text \"Hi $(name)\" is shown literally: $(name) is replaced only if it is the whole value; "
            + "write {'Hi ' + $(name)}"
        #expect(warnings() == [warning])
        try await bench.register(.phone(2), template: body)
        #expect(warnings().count == 1)
        try await bench.hub.putInstallation(Installation(id: "pad", handle: .phone(3), templates: ["t": InstallationTemplate(body: body)]))
        try await bench.hub.patchInstallation("pad", [.init(.add, "/templates/u", ["body": #"{"c":"x $(d)"}"#])])
        #expect(warnings().count == 2 && warnings().last?.contains("\"x $(d)\"") == true)
        var headed = InstallationTemplate(body: #"{"aps":{"alert":"$(name)"}}"#, headers: [PushHeader("apns-collapse-id", "x $(h)")])
        for _ in 1...2 { try await bench.hub.putInstallation(Installation(id: "tab", handle: .phone(4), templates: ["t": headed])) }
        #expect(warnings().count == 3 && warnings().last?.contains("header apns-collapse-id") == true, "\(warnings())")
        headed.headers = [PushHeader("apns-collapse-id", "$(h)")]
        try await bench.hub.putInstallation(Installation(id: "tab", handle: .phone(4), templates: ["t": headed]))
        #expect(warnings().count == 3)
        // The template is valid, and devices receive the text unchanged, as from Azure.
        _ = try await bench.hub.send(.properties(["name": "Ana"]))
        #expect(bench.connector.bodies.contains(body))
    }

    @Test func `a plan reports it`() async throws {
        let bench = try HubBench()
        try await bench.register(.phone(1), tags: ["a"], template: #"{"aps":{"alert":"Hi $(name)"}}"#)
        let report = try await bench.hub.plan(
            PlanRequest(audience: .everyone, content: .template(["name": "Ana"]), isStored: true))
        #expect(report.groups.first?.texts.map { $0.hasSuffix("write {'Hi ' + $(name)}") } == [true])
        let kept = try await bench.hub.plan(#require(report.id))
        #expect(kept.groups == report.groups)
    }
}
