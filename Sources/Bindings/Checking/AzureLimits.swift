import Lua
import LuaSyntax
import PushModel

/// Finds literal arguments of a call that exceed the limits of Azure Notification Hubs.
struct AzureLimits {
    private var findings: [SourceFinding] = []

    /// Maximum number of tags per registration or installation (Azure's documentation, "Routing and tag expressions").
    private static let maximumTags = 60

    /// The findings in the arguments of an otherwise valid call. `values` are the arguments by parameter name.
    static func findings(
        in values: [String: SourceValue], of binding: Binding, keys: [String: Range<Int>]
    ) -> [SourceFinding] {
        var limits = AzureLimits()
        limits.check(values, of: binding, keys: keys)
        return limits.findings
    }

    private mutating func report(_ finding: SourceFinding) { findings.append(finding) }

    private mutating func check(_ values: [String: SourceValue], of binding: Binding, keys: [String: Range<Int>]) {
        for parameter in binding.parameters {
            guard let value = values[parameter.name] else { continue }
            switch parameter.type {
            case .audience: checkAudience(value)
            case .list(.tag) where !binding.name.hasPrefix("push.tag."): checkTags(value, of: binding)
            case .template: checkTemplateName(value.field("name"))
            case .map(.template): for (name, range) in value.keys.sorted(by: { $0.key < $1.key }) { checkTemplateName(name, at: range) }
            default: break
            }
        }
        checkPlan(values, of: binding)
        checkChannel(values)
        checkContent(values, of: binding)
        guard values["properties"] != nil else { return }
        for key in ["priority", "collapse_id"] where values[key] != nil {
            report(
                SourceFinding(
                    "target.unsupported", "Azure Notification Hubs does not support \"\(key)\" with \"properties\"",
                    hint: "set the corresponding header in the template, or send alert or payload",
                    at: keys[key] ?? values[key]?.range ?? 0..<0))
        }
    }

    private mutating func checkPlan(_ values: [String: SourceValue], of binding: Binding) {
        let isPlan = binding.name == PlanBindings.plan.name
        guard let range = (isPlan ? values["to"] : binding.name == SendBindings.send.name ? values["plan"] : nil)?.range else { return }
        report(
            SourceFinding(
                "target.unsupported", "Azure Notification Hubs does not support plans",
                hint: "use plans with a PushHost or the embedded target", at: range))
    }

    private mutating func checkAudience(_ value: SourceValue) {
        guard let text = value.text, let expression = try? TagExpression(parsing: text) else { return }
        for finding in expression.azureFindings() {
            report(
                SourceFinding(
                    "azure.limits", "Azure would reject this expression: \(finding.asClause)",
                    hint: "combine tags that belong together into one, or split the send", at: value.range))
        }
    }

    private mutating func checkTags(_ value: SourceValue, of binding: Binding) {
        guard case .table(let items, _, _) = value.content else { return }
        let tags = items.compactMap { $0.text.flatMap(Tag.init(validating:)) }
        do throws(PushError) {
            // The app backend adds a tag for the user.
            let isOfBackend = [RegistrationBindings.register.name, RegistrationBindings.sessionRegister.name].contains(binding.name)
            let count = try tags.checked().count + (isOfBackend ? 1 : 0)
            guard count > Self.maximumTags else { return }
            report(
                SourceFinding(
                    "azure.limits",
                    "\(count) tags on one registration\(isOfBackend ? ", including that of the user" : ""); Azure Notification Hubs allows \(Self.maximumTags)",
                    hint: "combine tags that belong together into one", at: value.range))
        } catch {
            report(SourceFinding(LuaError(error), at: value.range))
        }
    }

    private mutating func checkTemplateName(_ name: SourceValue?) {
        if let name, let text = name.text { checkTemplateName(text, at: name.range) }
    }

    private mutating func checkTemplateName(_ name: String, at range: Range<Int>) {
        guard name.count > RegistrationTemplate.maximumNameLength else { return }
        report(SourceFinding(LuaError(RegistrationTemplate.refusal(ofNameWith: name.count)), at: range))
    }

    private mutating func checkChannel(_ values: [String: SourceValue]) {
        guard let channel = values["push_channel"], let text = channel.text,
            let platform = values["platform"]?.text.flatMap(Platform.init(name:))
        else { return }
        do throws(PushError) {
            _ = try DeviceHandle(platform: platform, text: text)
        } catch {
            report(SourceFinding(LuaError(error), at: channel.range))
        }
    }

    private mutating func checkContent(_ values: [String: SourceValue], of binding: Binding) {
        guard let key = ["alert", "properties", "payload"].first(where: { values[$0] != nil }), let value = values[key],
            let content = content(key, value, beside: values, isOfBackend: binding.name == AccountBindings.sessionSend.name)
        else { return }
        do throws(PushError) {
            var options = PushOptions()
            options.collapseID = values["collapse_id"]?.text
            _ = try NotificationRequest(audience: .everyone, content: content, options: options).checked(refusingLarge: true)
        } catch {
            var range = value.range
            if error.code == "payload.collapse_id" { range = values["collapse_id"]?.range ?? range }
            if error.code == "payload.property_name" {
                range = NotificationRequest.firstInvalidPropertyName(among: value.keys.keys).flatMap { value.keys[$0] } ?? range
            }
            report(SourceFinding(LuaError(error), at: range))
        }
    }

    /// The content as far as it is known. Unknown parts can only make it larger.
    private func content(
        _ key: String, _ value: SourceValue, beside values: [String: SourceValue], isOfBackend: Bool
    ) -> NotificationContent? {
        switch key {
        case "alert":
            guard let text = value.text else { return nil }
            return .native(isOfBackend ? AlertPayloads.backend(text: text) : AlertPayloads.system(title: values["title"]?.text, text: text))
        case "properties":
            guard case .table(_, let fields, _) = value.content else { return nil }
            return .template(fields.mapValues { $0.luaValue?.text ?? "" })
        default:
            guard case .table(_, let fields, _) = value.content else { return nil }
            var payloads: [Platform: NativePayload] = [:]
            for (name, body) in fields {
                guard let platform = Platform(name: name), let bytes = body.body, let headers = values["headers"].headers(of: platform)
                else { continue }
                payloads[platform] = NativePayload(body: bytes, headers: headers)
            }
            return payloads.isEmpty ? nil : .native(payloads)
        }
    }

    /// The tag expression that a binding builds from literal tags; nil if it is only known at run time.
    static func tagText(of binding: Binding, _ values: [String: SourceValue]) -> String? {
        switch binding.name {
        case TagBindings.tagUser.name: return values["name"]?.text.flatMap { try? Tag.username($0).text }
        case TagBindings.tagDevice.name: return values["name"]?.text.flatMap { try? Tag.installation($0).text }
        case TagBindings.tagAny.name, TagBindings.tagAll.name, TagBindings.tagNone.name:
            guard let tags = values["tags"], case .table(let items, _, true) = tags.content, !items.isEmpty else { return nil }
            let terms = items.compactMap { item in item.text.flatMap { try? TagExpression(parsing: $0) } }
            return terms.count == items.count ? TagExpression(combining: terms, by: binding.shortName).description : nil
        default: return nil
        }
    }
}

extension SourceValue {
    fileprivate var text: String? {
        if case .string(let text) = content { text } else { nil }
    }

    fileprivate func field(_ name: String) -> SourceValue? {
        if case .table(_, let fields, _) = content { fields[name] } else { nil }
    }

    /// The payload as a send would encode it.
    fileprivate var body: [UInt8]? { text.map { Array($0.utf8) } ?? luaValue?.json?.serialized() }
}

extension SourceValue? {
    /// The headers for a platform; nil if they are only known at run time.
    fileprivate func headers(of platform: Platform) -> [PushHeader]? {
        guard let self else { return [] }
        guard case .table(_, let fields, true) = self.content else { return nil }
        guard let given = fields.first(where: { Platform(name: $0.key) == platform })?.value else { return [] }
        guard case .table(let table)? = given.luaValue else { return nil }
        return table.texts.map { PushHeader($0.key, $0.value) }
    }
}
