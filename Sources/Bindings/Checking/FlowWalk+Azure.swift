import Lua
import LuaSyntax
import PushCore

// What Azure Notification Hubs would refuse of values that stand in a script.
extension FlowWalk {
    /// Most tags of a registration or an installation (Azure's documentation, "Routing and tag expressions").
    private static let maximumTags = 60

    /// `values` are the arguments of a call that is right otherwise, by parameter.
    mutating func holdAgainstAzure(_ values: [String: SourceValue], of binding: Binding, keys: [String: Range<Int>]) {
        for parameter in binding.parameters {
            guard let value = values[parameter.name] else { continue }
            switch parameter.type {
            case .audience: holdAudience(value)
            case .list(.tag) where !binding.name.hasPrefix("push.tag."): holdTags(value, of: binding)
            case .template: holdTemplateName(value.field("name"))
            case .map(.template): for (name, range) in value.keys.sorted(by: { $0.key < $1.key }) { holdTemplateName(name, at: range) }
            default: break
            }
        }
        holdPlan(values, of: binding)
        holdChannel(values)
        holdContent(values, of: binding)
        guard values["properties"] != nil else { return }
        for key in ["priority", "collapse_id"] where values[key] != nil {
            report(
                Remark(
                    "target.unsupported", "Azure Notification Hubs takes no \"\(key)\" with \"properties\": the template decides",
                    hint: "give the template the header that the service has for it, or send alert or payload",
                    at: keys[key] ?? values[key]?.range ?? 0..<0))
        }
    }

    private mutating func holdPlan(_ values: [String: SourceValue], of binding: Binding) {
        let isPlan = binding.name == Binding.plan.name
        guard let place = (isPlan ? values["to"] : binding.name == Binding.send.name ? values["plan"] : nil)?.range else { return }
        report(
            Remark(
                "target.unsupported", "Azure Notification Hubs cannot say who would get a notification, and keeps no plans",
                hint: "plan on a PushHost, or on the embedded target", at: place))
    }

    private mutating func holdAudience(_ value: SourceValue) {
        guard let text = value.text, let expression = try? TagExpression(parsing: text) else { return }
        for finding in expression.azureFindings() {
            report(
                Remark(
                    "azure.limits", "Azure would refuse this expression: \(finding.asClause)",
                    hint: "give devices one tag for what belongs together, or send twice", at: value.range))
        }
    }

    private mutating func holdTags(_ value: SourceValue, of binding: Binding) {
        guard case .table(let items, _, _) = value.content else { return }
        let tags = items.compactMap { $0.text.flatMap(Tag.init(validating:)) }
        do throws(PushError) {
            // The app backend adds the tag of the user.
            let isOfBackend = [Binding.register.name, Binding.sessionRegister.name].contains(binding.name)
            let count = try tags.checked().count + (isOfBackend ? 1 : 0)
            guard count > Self.maximumTags else { return }
            report(
                Remark(
                    "azure.limits",
                    "\(count) tags on one registration\(isOfBackend ? ", the user's among them" : ""); Azure Notification Hubs takes \(Self.maximumTags)",
                    hint: "give devices one tag for what belongs together", at: value.range))
        } catch {
            report(Remark(LuaError(error), at: value.range))
        }
    }

    private mutating func holdTemplateName(_ name: SourceValue?) {
        if let name, let text = name.text { holdTemplateName(text, at: name.range) }
    }

    private mutating func holdTemplateName(_ name: String, at range: Range<Int>) {
        guard name.count > RegistrationTemplate.maximumNameLength else { return }
        report(Remark(LuaError(RegistrationTemplate.refusal(ofNameWith: name.count)), at: range))
    }

    private mutating func holdChannel(_ values: [String: SourceValue]) {
        guard let channel = values["push_channel"], let text = channel.text,
            let platform = values["platform"]?.text.flatMap(Platform.init(name:))
        else { return }
        do throws(PushError) {
            _ = try DeviceHandle(platform: platform, text: text)
        } catch {
            report(Remark(LuaError(error), at: channel.range))
        }
    }

    private mutating func holdContent(_ values: [String: SourceValue], of binding: Binding) {
        guard let key = ["alert", "properties", "payload"].first(where: { values[$0] != nil }), let value = values[key],
            let content = content(key, value, beside: values, isOfBackend: binding.name == Binding.sessionSend.name)
        else { return }
        do throws(PushError) {
            var options = PushOptions()
            options.collapseID = values["collapse_id"]?.text
            _ = try NotificationRequest(audience: .everyone, content: content, options: options).checked(refusingLarge: true)
        } catch {
            var range = value.range
            if error.code == "payload.collapse_id" { range = values["collapse_id"]?.range ?? range }
            if error.code == "payload.property_name" {
                range = value.keys.first { error.message.contains("\"\($0.key)\"") }?.value ?? range
            }
            report(Remark(LuaError(error), at: range))
        }
    }

    /// As much of the content as is known: what is not known can only make it larger.
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

    /// The text that a binding makes of tags that stand in the script; nil where only a run can tell.
    func tagText(of binding: Binding, _ values: [String: SourceValue]) -> String? {
        switch binding.name {
        case Binding.tagUser.name: return values["name"]?.text.flatMap { try? Tag.username($0).text }
        case Binding.tagDevice.name: return values["name"]?.text.flatMap { try? Tag.installation($0).text }
        case Binding.tagAny.name, Binding.tagAll.name, Binding.tagNone.name:
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

    /// A payload as a send would write it.
    fileprivate var body: [UInt8]? { text.map { Array($0.utf8) } ?? luaValue?.json?.serialized() }
}

extension SourceValue? {
    /// Nil where only a run can tell.
    fileprivate func headers(of platform: Platform) -> [PushHeader]? {
        guard let self else { return [] }
        guard case .table(_, let fields, true) = self.content else { return nil }
        guard let given = fields.first(where: { Platform(name: $0.key) == platform })?.value else { return [] }
        guard case .table(let table)? = given.luaValue else { return nil }
        return table.texts.map { PushHeader($0.key, $0.value) }
    }
}
