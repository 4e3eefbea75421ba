extension RegistrationTable {
    /// Whom a notification reaches among those that an expression names, among everybody for nil.
    ///
    /// - Parameter planned: where the only ones stand that are meant, ascending; nil where all are. Whoever is none of them is no twin of
    ///   theirs either.
    func targets(of expression: TagExpression?, for content: NotificationContent, among planned: [UInt32]? = nil) -> Targets {
        let selected = index.select(expression)
        let places = planned.map { selected.common(withSorted: $0) } ?? selected
        var sorting = TargetSorting(content, templates)
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

    /// Who stands at these places now, in their order.
    func recipients(at places: some Sequence<UInt32>, of group: RecipientGroup) -> [Recipient] {
        places.map { place in
            let traits = columns.traits[place]
            // Another platform would take the bytes for its own.
            let hasLeft = !traits.isLive || group.platform.map { $0 != traits.platform } == true
            return Recipient(
                handle: columns.handle(at: place), registrationID: id(at: place), installationID: installationID(at: place),
                templateName: traits.isLive ? templates[columns.templates[place]]?.name : group.templateName, hasLeft: hasLeft)
        }
    }
}

/// Sorts places into groups: by numbers as long as there are no push variables to look at.
private struct TargetSorting {
    /// What is different for two devices with the same template.
    private struct Variant: Hashable {
        let key: Int
        let variables: [String: String]
    }

    /// One of several registrations with the same handle.
    private struct Twin: Hashable {
        let ring: UInt32
        let content: UInt32
        let variables: [String: String]
    }

    let isTemplate: Bool
    private let templates: TemplateRegister
    /// By code: whether there is a payload.
    private var isReached = [Bool](repeating: false, count: 16)
    /// By key, -1 for none.
    private var groups: [Int]
    private var variants: [Variant: Int] = [:]
    private var members: [[UInt32]] = []
    /// Of rings that are too long to be gone round for each of their members.
    private var twins: [Twin: UInt32] = [:]
    /// By member: the member of its ring that came first.
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

    /// The way of most: false where there is no group of that key yet.
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

    /// The push variables of a registration that its template uses: the others make no difference to the bytes.
    func variables(of place: UInt32, in columns: RegistrationColumns) -> [String: String] {
        guard isTemplate else { return [:] }
        let variables = columns.variables(at: place)
        guard !variables.isEmpty, let template = templates[columns.templates[place]] else { return [:] }
        return variables.filter { template.variables.contains($0.key.lowercased()) }
    }

    /// The first registration in the list with the same handle, content and used push variables; nil for that itself.
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
        // Every member of a ring this long comes by here, in the order of the list.
        if rings[place] == nil {
            for member in columns.ring(of: place) { rings[member] = place }
        }
        let ring = rings[place] ?? place
        let twin = Twin(ring: ring, content: content, variables: variables)
        if let original = twins[twin] { return original }
        twins[twin] = place
        return nil
    }
}

extension [UInt32] {
    /// Those that are in both; both in ascending order.
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

    /// Of an array in ascending order.
    fileprivate func containsSorted(_ element: UInt32) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] == element
    }
}
