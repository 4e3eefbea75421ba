import PushModel

/// Finds the registrations of a plan in the table.
struct PlannedAudienceFinder {
    let table: RegistrationTable

    /// The registrations that match an expression (nil: all), grouped by what they would receive.
    ///
    /// - Parameter targets: targets of a plan with content, resolved from the same state of the table; the kinds are its groups. Without
    ///   targets, all matching registrations are included, and the kinds are platforms and templates.
    func planned(_ expression: TagExpression?, _ targets: Targets?) -> (audience: PlannedAudience, locales: [UInt32: String]) {
        var audience = PlannedAudience()
        var locales: [UInt32: String] = [:]
        func add(_ row: UInt32, _ kind: Int, isDuplicate: Bool) {
            let shard = table.columns.traits[row].shard
            if shard == RegistrationTraits.unusualShard {
                audience.members.append(PlannedAudience.Member(nil, at: row, kind: kind, isDuplicate: isDuplicate))
                audience.unusual[row] = table.id(at: row)
            } else {
                audience.members.append(
                    PlannedAudience.Member(table.columns.packedID(at: row), at: row, kind: kind, isDuplicate: isDuplicate))
            }
            if table.columns.traits[row].hasVariables, let locale = InferredLocale.of(variables: table.columns.variables(at: row)) {
                locales[row] = locale
            }
        }
        guard let targets else {
            var numbers: [UInt64: Int] = [:]
            for row in table.select(expression) {
                let (platform, template) = (table.columns.traits[row].platform, table.columns.templates[row])
                let key = UInt64(template) << 8 | UInt64(platform.code)
                let kind = numbers[key] ?? audience.kinds.count
                if kind == audience.kinds.count {
                    numbers[key] = kind
                    audience.kinds.append(PlannedAudience.Kind(platform, table.templates[template]))
                }
                add(row, kind, isDuplicate: false)
            }
            return (audience, locales)
        }
        // Indexing by row sorts the members without comparisons.
        var groups = [UInt32](repeating: .max, count: Int(table.end))
        for (number, group) in targets.groups.enumerated() {
            for row in group.members { groups[Int(row)] = UInt32(number) }
        }
        var isDuplicate = Set<UInt32>()
        for (duplicate, original) in zip(targets.duplicates, targets.originals) {
            groups[Int(duplicate)] = groups[Int(original)]
            isDuplicate.insert(duplicate)
        }
        audience.members.reserveCapacity(targets.count + targets.duplicates.count)
        for (row, group) in groups.enumerated() where group != .max {
            let row = UInt32(row)
            add(row, Int(group), isDuplicate: !isDuplicate.isEmpty && isDuplicate.contains(row))
        }
        return (audience, locales)
    }

    /// The current rows of those members that still exist, ascending.
    func rows(of audience: PlannedAudience) -> [UInt32] {
        var (rows, isSorted): ([UInt32], Bool) = ([], true)
        rows.reserveCapacity(audience.count)
        for member in audience.members {
            if member.shard != RegistrationTraits.unusualShard {
                if table.columns.isLive(member.row), table.columns.has(member.packed, at: member.row) {
                    rows.append(member.row)
                } else if let row = table.row(of: member.packed) {
                    rows.append(row)
                    isSorted = false
                }
            } else if let row = table.row(of: audience.id(of: member)) {
                if row != member.row { isSorted = false }
                rows.append(row)
            }
        }
        return isSorted ? rows : rows.sorted()
    }
}

extension PlannedAudience.Kind {
    fileprivate init(_ platform: Platform, _ template: RegistrationTemplate?) {
        var mark = ContentMark()
        if let template { mark.add(template) }
        self.init(
            platform: platform, templateName: template?.name, isTemplate: template != nil, bytes: nil, mark: mark.value, isRefused: false)
    }

    /// - Parameter isRefused: whether no push service would be called.
    init(_ group: RenderedGroup, isRefused: Bool) {
        var mark = ContentMark()
        mark.add(group.body)
        for header in group.headers {
            mark.add(Array(header.name.utf8))
            mark.add(Array(header.value.utf8))
        }
        self.init(
            platform: group.platform, templateName: group.templateName, isTemplate: group.isTemplate, bytes: group.body.count,
            mark: mark.value, isRefused: isRefused)
    }
}

/// A hash of content that is stable across processes: 64-bit FNV-1a, with the length before each part.
private struct ContentMark {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: [UInt8]) {
        add(word: UInt64(bytes.count))
        for byte in bytes { add(word: UInt64(byte)) }
    }

    mutating func add(_ template: RegistrationTemplate) {
        for text in [template.body, template.expiry ?? "", template.priority ?? ""] { add(Array(text.utf8)) }
        for header in template.headers {
            add(Array(header.name.utf8))
            add(Array(header.value.utf8))
        }
    }

    private mutating func add(word: UInt64) { value = (value ^ word) &* 0x100_0000_01b3 }
}
