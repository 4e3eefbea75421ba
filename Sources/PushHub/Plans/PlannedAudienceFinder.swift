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
        func add(_ place: UInt32, _ kind: Int, isDuplicate: Bool) {
            let shard = table.columns.traits[place].shard
            if shard == RegistrationTraits.unusualShard {
                audience.members.append(PlannedAudience.Member(nil, at: place, kind: kind, isDuplicate: isDuplicate))
                audience.unusual[place] = table.id(at: place)
            } else {
                audience.members.append(
                    PlannedAudience.Member(table.columns.packedID(at: place), at: place, kind: kind, isDuplicate: isDuplicate))
            }
            if table.columns.traits[place].hasVariables, let locale = InferredLocale.of(variables: table.columns.variables(at: place)) {
                locales[place] = locale
            }
        }
        guard let targets else {
            var numbers: [UInt64: Int] = [:]
            for place in table.select(expression) {
                let (platform, template) = (table.columns.traits[place].platform, table.columns.templates[place])
                let key = UInt64(template) << 8 | UInt64(platform.code)
                let kind = numbers[key] ?? audience.kinds.count
                if kind == audience.kinds.count {
                    numbers[key] = kind
                    audience.kinds.append(PlannedAudience.Kind(platform, table.templates[template]))
                }
                add(place, kind, isDuplicate: false)
            }
            return (audience, locales)
        }
        // Indexing by row sorts the members without comparisons.
        var groups = [UInt32](repeating: .max, count: Int(table.end))
        for (number, group) in targets.groups.enumerated() {
            for place in group.members { groups[Int(place)] = UInt32(number) }
        }
        var isDuplicate = Set<UInt32>()
        for (duplicate, original) in zip(targets.duplicates, targets.originals) {
            groups[Int(duplicate)] = groups[Int(original)]
            isDuplicate.insert(duplicate)
        }
        audience.members.reserveCapacity(targets.count + targets.duplicates.count)
        for (place, group) in groups.enumerated() where group != .max {
            let place = UInt32(place)
            add(place, Int(group), isDuplicate: !isDuplicate.isEmpty && isDuplicate.contains(place))
        }
        return (audience, locales)
    }

    /// The current rows of those members that still exist, ascending.
    func places(of audience: PlannedAudience) -> [UInt32] {
        var (places, isSorted): ([UInt32], Bool) = ([], true)
        places.reserveCapacity(audience.count)
        for member in audience.members {
            if member.shard != RegistrationTraits.unusualShard {
                if table.columns.isLive(member.place), table.columns.has(member.packed, at: member.place) {
                    places.append(member.place)
                } else if let place = table.place(of: member.packed) {
                    places.append(place)
                    isSorted = false
                }
            } else if let place = table.place(of: audience.id(of: member)) {
                if place != member.place { isSorted = false }
                places.append(place)
            }
        }
        return isSorted ? places : places.sorted()
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
