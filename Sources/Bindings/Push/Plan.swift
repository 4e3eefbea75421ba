import Lua
import PushModel

/// Plans of sends.
enum PlanBindings {
    /// Keys that determine a plan. Delivery options belong to the send.
    private static let planKeys = ["to", "alert", "title", "properties", "payload", "headers"]

    static let plan = Binding(
        "push.plan",
        "Determines exactly which devices would receive a notification, and its content. Nothing is sent; push.send{ plan = … } sends to "
            + "exactly these devices.",
        takes: .table(
            SendBindings.notificationParameters.filter { planKeys.contains($0.name) } + [
                .optional("keep", .boolean, "false: the plan is not stored, and push.send cannot use it", mistakenFor: ["save", "kept"])
            ],
            constraint: { keys, name throws(LuaError) in
                guard keys.contains("to") else { throw NotificationKeys.noAudience(name) }
                guard keys.isDisjoint(with: NotificationKeys.notificationContents) else {
                    return try NotificationKeys.requireContent(keys, name)
                }
                if let stray = ["title", "headers"].first(where: keys.contains) {
                    throw .misuse(
                        "send.no_content", "\(name): \"\(stray)\" needs content", hint: "give alert or payload, or leave it out",
                        details: ["key": .string(stray)])
                }
            }),
        returns: "push.Plan", when: .in(.acting, capability: .hubRead),
        errors: [
            "payload.empty", "payload.invalid", "send.no_audience", "send.header", "send.no_content", "tag_expression.invalid",
            "target.unsupported",
        ],
        example: "local plan = push.plan { to = \"Sports && !muted\", alert = \"Goal\" }",
        body: .async { arguments, run in
            // A missing text is `push.everyone`.
            let audience: Audience = try arguments.string("to").map { .expression(try TagExpression(audience: $0)) } ?? .everyone
            let request = PlanRequest(
                audience: audience, content: arguments.hasContent ? try arguments.content() : nil,
                isStored: arguments.boolean("keep") ?? true)
            return PlanRecord(plan: try await run.world.hub.plan(request))
        })
}

extension Arguments {
    /// Whether the arguments include content.
    var hasContent: Bool { NotificationKeys.notificationContents.contains { value($0) != nil } }

    /// The send of a plan; nil if the arguments name no plan. Throws `plan.tolerance`, `payload.*`.
    func plannedSend(_ run: FlowRun) throws -> PlannedSend? {
        let id: String
        switch value("plan") {
        case nil: return nil
        case .string(let text)?: id = text
        case .table(let table)?:
            guard case .string(let text)? = table.fields["id"] else {
                throw LuaError.misuse(
                    "args.wrong_type", "\(name): the plan has no id, because it was not stored", hint: "create it without keep = false",
                    details: ["key": .string("plan")])
            }
            id = text
        default: return nil
        }
        var tolerance = DriftTolerance.none
        if let text = string("tolerance") {
            tolerance = try DriftTolerance(text)
        } else if let count = integer("tolerance") {
            tolerance = try DriftTolerance("\(count)")
        }
        let request = try options(run)
        return PlannedSend(
            PlanBinding(id, tolerance: tolerance), content: hasContent ? try content() : nil, options: request.options, pace: request.pace)
    }
}

/// A plan, as scripts see it: `push.Plan`.
struct PlanRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("id", .text.optional), ("to", .text), ("planned_at", .text), ("expires_at", .text.optional), ("total", .integer),
        ("matched", .integer), ("duplicates", .integer), ("refused", .integer), ("by_platform", [String: Int].luaShape),
        ("by_tag", [String: Int].luaShape), ("by_locale", [String: Int].luaShape), ("templates", [TemplateRecord].luaShape),
        ("groups", [GroupRecord].luaShape), ("near_misses", [String].luaShape), ("failed_terms", [TermRecord].luaShape),
        ("difference", DifferenceRecord.luaShape.optional),
    ]

    let plan: PlanReport

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(plan.id)
        writer.write(plan.audienceWords)
        writer.write(plan.plannedAt.description)
        writer.write(plan.expiresAt?.description)
        writer.write(plan.total)
        writer.write(plan.matched)
        writer.write(plan.duplicates)
        writer.write(plan.refused)
        writer.write(Dictionary(uniqueKeysWithValues: plan.platforms.map { ($0.key.shortName, $0.value) }))
        writer.write(Self.counts(plan.tags))
        writer.write(Self.counts(plan.locales))
        writer.write(plan.templates.map(TemplateRecord.init))
        writer.write(plan.groups.map(GroupRecord.init))
        writer.write(plan.nearMisses)
        writer.write(plan.failedTerms.map(TermRecord.init))
        writer.write(plan.difference.map(DifferenceRecord.init))
    }

    private static func counts(_ counts: [PlanReport.Count]) -> [String: Int] {
        Dictionary(counts.map { ($0.name, $0.devices) }, uniquingKeysWith: +)
    }

    /// `push.PlanTemplate`.
    struct TemplateRecord: LuaWritableRecord, Sendable {
        static let luaMembers: [(name: String, shape: LuaShape)] = [
            ("platform", .text), ("template", .text.optional), ("is_template", .boolean), ("devices", .integer),
            ("smallest", .integer.optional), ("largest", .integer.optional), ("refused", .integer),
        ]

        let template: PlanReport.TemplateCount

        func writeMembers(to writer: inout LuaWriter) {
            writer.write(template.platform.shortName)
            writer.write(template.name)
            writer.write(template.isTemplate)
            writer.write(template.devices)
            writer.write(template.smallest)
            writer.write(template.largest)
            writer.write(template.refused)
        }
    }

    /// `push.PlanGroup`.
    struct GroupRecord: LuaWritableRecord, Sendable {
        static let luaMembers: [(name: String, shape: LuaShape)] = [
            ("platform", .text), ("template", .text.optional), ("devices", .integer), ("payload", .text), ("bytes", .integer),
            ("limit", .integer), ("too_large", .boolean), ("refused", .text.optional),
        ]

        let group: PlanReport.Group

        func writeMembers(to writer: inout LuaWriter) {
            writer.write(group.platform.shortName)
            writer.write(group.templateName)
            writer.write(group.devices)
            writer.write(group.payload)
            writer.write(group.bytes)
            writer.write(group.limit)
            writer.write(group.isTooLarge)
            writer.write(group.refusal?.explanation)
        }
    }

    /// `push.FailedTerm`.
    struct TermRecord: LuaWritableRecord, Sendable {
        static let luaMembers: [(name: String, shape: LuaShape)] = [
            ("term", .text), ("matches", .integer), ("without", .integer.optional),
        ]

        let term: PlanReport.FailedTerm

        func writeMembers(to writer: inout LuaWriter) {
            writer.write(term.term)
            writer.write(term.matches)
            writer.write(term.without)
        }
    }

    /// `push.PlanDifference`.
    struct DifferenceRecord: LuaWritableRecord, Sendable {
        static let luaMembers: [(name: String, shape: LuaShape)] = [
            ("plan", .text), ("joined", .integer), ("left", .integer), ("changed", .integer),
        ]

        let difference: PlanReport.Difference

        func writeMembers(to writer: inout LuaWriter) {
            writer.write(difference.planID)
            writer.write(difference.joined)
            writer.write(difference.left)
            writer.write(difference.changed)
        }
    }
}
