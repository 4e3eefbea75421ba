import PushModel

extension RegistrationTable {
    /// The targets of a notification among the registrations that match an expression, or among all for nil.
    ///
    /// - Parameter planned: rows of the plan's registrations, ascending; nil without a plan. Other registrations do not count as
    ///   duplicates either.
    func targets(of expression: TagExpression?, for content: NotificationContent, among planned: [UInt32]? = nil) -> Targets {
        let selected = index.select(expression)
        let places = planned.map { selected.common(withSorted: $0) } ?? selected
        var sorting = TargetGrouping(content, templates)
        for place in places {
            let traits = columns.traits[place]
            guard traits.isLive else { continue }
            sorting.targets.matched += 1
            let template = columns.templates[place]
            guard let key = sorting.key(traits.platform, template) else { continue }
            if !traits.isLinked, !traits.hasVariables, sorting.add(place, toGroupOf: key) { continue }
            let variables = sorting.variables(of: place, in: columns)
            if traits.isLinked, let original = sorting.original(of: place, variables, columns, among: places) {
                sorting.targets.duplicates.append(place)
                sorting.targets.originals.append(original)
            } else {
                sorting.add(place, key, traits.platform, template, variables)
            }
        }
        return sorting.finished
    }

    /// The current recipients in these rows, in their order.
    func recipients(at places: some Sequence<UInt32>, of group: RecipientGroup) -> [Recipient] {
        places.map { place in
            let traits = columns.traits[place]
            // Another platform could misread the bytes.
            let hasLeft = !traits.isLive || group.platform.map { $0 != traits.platform } == true
            return Recipient(
                handle: columns.handle(at: place), registrationID: id(at: place), installationID: installationID(at: place),
                templateName: traits.isLive ? templates[columns.templates[place]]?.name : group.templateName, hasLeft: hasLeft)
        }
    }
}

/// Sorts rows into groups. Rows without push variables need only the number of their group.
private struct TargetGrouping {
    /// What distinguishes groups with the same template.
    private struct Variant: Hashable {
        let key: Int
        let variables: [String: String]
    }

    /// Identifies registrations with the same handle that get the same bytes.
    private struct DuplicateHandle: Hashable {
        let ring: UInt32
        let content: UInt32
        let variables: [String: String]
    }

    let isTemplate: Bool
    private let templates: TemplateRegister
    /// By platform code: whether there is a payload.
    private var isReached = [Bool](repeating: false, count: 16)
    /// By key; -1 for none.
    private var groups: [Int]
    private var variants: [Variant: Int] = [:]
    private var members: [[UInt32]] = []
    /// Originals in rings that are too long to walk for each member.
    private var duplicateHandles: [DuplicateHandle: UInt32] = [:]
    /// By row: the row that represents its ring.
    private var rings: [UInt32: UInt32] = [:]
    var targets = Targets()

    init(_ content: NotificationContent, _ templates: TemplateRegister) {
        self.templates = templates
        switch content {
        case .template:
            isTemplate = true
            groups = Array(repeating: -1, count: Int(templates.contentEnd))
        case .native(let payloads):
            isTemplate = false
            groups = Array(repeating: -1, count: 16)
            for platform in payloads.keys { isReached[Int(platform.code)] = true }
        }
    }

    var finished: Targets {
        var targets = targets
        for (number, members) in members.enumerated() { targets.groups[number].members = members }
        return targets
    }

    /// Nil for a registration of the other kind, or without a payload.
    func key(_ platform: Platform, _ template: UInt32) -> Int? {
        if isTemplate { return template == TemplateRegister.none ? nil : Int(templates.content(of: template)) }
        return template == TemplateRegister.none && isReached[Int(platform.code)] ? Int(platform.code) : nil
    }

    /// Fast path for most rows. Returns `false` if there is no group for the key yet.
    @inline(__always)
    mutating func add(_ place: UInt32, toGroupOf key: Int) -> Bool {
        let group = groups[key]
        guard group >= 0 else { return false }
        members[group].append(place)
        return true
    }

    mutating func add(_ place: UInt32, _ key: Int, _ platform: Platform, _ template: UInt32, _ variables: [String: String]) {
        var group = variables.isEmpty ? groups[key] : variants[Variant(key: key, variables: variables)] ?? -1
        if group < 0 {
            group = members.count
            members.append([])
            targets.groups.append(Targets.Group(platform: platform, template: templates[template], variables: variables))
            if variables.isEmpty { groups[key] = group } else { variants[Variant(key: key, variables: variables)] = group }
        }
        members[group].append(place)
    }

    /// The push variables of a registration that its template uses. The others do not affect the bytes.
    func variables(of place: UInt32, in columns: RegistrationColumns) -> [String: String] {
        guard isTemplate else { return [:] }
        let variables = columns.variables(at: place)
        guard !variables.isEmpty, let template = templates[columns.templates[place]] else { return [:] }
        return variables.filter { template.variables.contains($0.key.lowercased()) }
    }

    /// The first registration with the same handle, content and used push variables; nil if it is this one. Registrations with the same
    /// handle form a ring.
    mutating func original(
        of place: UInt32, _ variables: [String: String], _ columns: RegistrationColumns, among places: [UInt32]
    ) -> UInt32? {
        let template = columns.templates[place]
        let content = isTemplate ? templates.content(of: template) : TemplateRegister.none
        var (other, steps) = (columns.follower(of: place), 0)
        var first = place
        while other != place, steps < 16 {
            steps += 1
            let its = columns.templates[other]
            if other < first, (its == TemplateRegister.none) == !isTemplate, !isTemplate || templates.content(of: its) == content,
                self.variables(of: other, in: columns) == variables, places.containsSorted(other)
            {
                first = other
            }
            other = columns.follower(of: other)
        }
        guard other != place else { return first == place ? nil : first }
        // Every member of such a long ring gets here, in the order of the rows.
        if rings[place] == nil {
            for member in columns.ring(of: place) { rings[member] = place }
        }
        let ring = rings[place] ?? place
        let twin = DuplicateHandle(ring: ring, content: content, variables: variables)
        if let original = duplicateHandles[twin] { return original }
        duplicateHandles[twin] = place
        return nil
    }
}

extension [UInt32] {
    /// The elements of both arrays, which are in ascending order.
    fileprivate func common(withSorted other: [UInt32]) -> [UInt32] {
        var found: [UInt32] = []
        found.reserveCapacity(Swift.min(count, other.count))
        var (place, its) = (0, 0)
        while place < count, its < other.count {
            if self[place] == other[its] {
                found.append(self[place])
                (place, its) = (place + 1, its + 1)
            } else if self[place] < other[its] {
                place += 1
            } else {
                its += 1
            }
        }
        return found
    }

    /// Whether an array in ascending order contains an element.
    fileprivate func containsSorted(_ element: UInt32) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] == element
    }
}
