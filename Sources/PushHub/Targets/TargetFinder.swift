import PushModel

/// Finds the targets of notifications in a table of registrations.
///
/// Holds the parts of the table that it reads: copying the whole table for each send is expensive.
struct TargetFinder {
    private let index: AudienceIndex
    private let columns: RegistrationColumns
    private let templates: TemplateRegister

    init(table: RegistrationTable) { (index, columns, templates) = (table.index, table.columns, table.templates) }

    init(_ directory: RegistrationDirectory) {
        (index, columns, templates) = (directory.table.index, directory.table.columns, directory.table.templates)
    }

    /// The targets of a notification.
    ///
    /// - Parameter planned: rows of the plan's registrations, ascending; nil without a plan.
    func targets(of request: NotificationRequest, among planned: [UInt32]? = nil) -> Targets {
        switch request.audience {
        case .device(let handle): Targets(direct: [handle])
        case .devices(let handles): Targets(direct: handles)
        case .expression(let expression): targets(of: expression, for: request.content, among: planned)
        case .everyone: targets(of: nil, for: request.content, among: planned)
        }
    }

    /// The targets of a notification among the registrations that match an expression, or among all for nil.
    ///
    /// - Parameter planned: rows of the plan's registrations, ascending; nil without a plan. Other registrations do not count as
    ///   duplicates either.
    func targets(of expression: TagExpression?, for content: NotificationContent, among planned: [UInt32]? = nil) -> Targets {
        let selected = index.select(expression)
        let rows = planned.map { selected.common(withSorted: $0) } ?? selected
        var sorting = TargetGrouping(content, templates)
        for row in rows {
            let traits = columns.traits[row]
            guard traits.isLive else { continue }
            sorting.targets.matched += 1
            let template = columns.templates[row]
            guard let key = sorting.key(traits.platform, template) else { continue }
            if !traits.isLinked, !traits.hasVariables, sorting.add(row, toGroupOf: key) { continue }
            let variables = sorting.variables(of: row, in: columns)
            if traits.isLinked, let original = sorting.original(of: row, variables, columns, among: rows) {
                sorting.targets.duplicates.append(row)
                sorting.targets.originals.append(original)
            } else {
                sorting.add(row, key, traits.platform, template, variables)
            }
        }
        return sorting.finished
    }
}

/// Sorts rows into groups. Rows without push variables need only the number of their group.
private struct TargetGrouping {
    /// The properties that distinguish groups with the same template.
    private struct Variant: Hashable {
        let key: Int
        let variables: [String: String]
    }

    /// Identifies registrations with the same handle that get the same bytes.
    private struct DuplicateHandle: Hashable {
        let sameHandleChain: UInt32
        let content: UInt32
        let variables: [String: String]
    }

    let isTemplate: Bool
    private let templates: TemplateRegister
    /// Whether there is a payload, by platform code.
    private var isReached = [Bool](repeating: false, count: 16)
    /// By key; -1 for none.
    private var groups: [Int]
    private var variants: [Variant: Int] = [:]
    private var members: [[UInt32]] = []
    /// Originals in chains that are too long to walk for each member.
    private var duplicateHandles: [DuplicateHandle: UInt32] = [:]
    /// The first row with the same handle, by row.
    private var sameHandleChains: [UInt32: UInt32] = [:]
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
    mutating func add(_ row: UInt32, toGroupOf key: Int) -> Bool {
        let group = groups[key]
        guard group >= 0 else { return false }
        members[group].append(row)
        return true
    }

    mutating func add(_ row: UInt32, _ key: Int, _ platform: Platform, _ template: UInt32, _ variables: [String: String]) {
        var group = variables.isEmpty ? groups[key] : variants[Variant(key: key, variables: variables)] ?? -1
        if group < 0 {
            group = members.count
            members.append([])
            targets.groups.append(Targets.Group(platform: platform, template: templates[template], variables: variables))
            if variables.isEmpty { groups[key] = group } else { variants[Variant(key: key, variables: variables)] = group }
        }
        members[group].append(row)
    }

    /// The push variables of a registration that its template uses. The others do not affect the bytes.
    func variables(of row: UInt32, in columns: RegistrationColumns) -> [String: String] {
        guard isTemplate else { return [:] }
        let variables = columns.variables(at: row)
        guard !variables.isEmpty, let template = templates[columns.templates[row]] else { return [:] }
        return variables.filter { template.variables.contains($0.key.lowercased()) }
    }

    /// The first registration with the same handle, content and used push variables; nil if it is this one. Registrations with the same
    /// handle form a circular chain.
    mutating func original(
        of row: UInt32, _ variables: [String: String], _ columns: RegistrationColumns, among rows: [UInt32]
    ) -> UInt32? {
        let template = columns.templates[row]
        let content = isTemplate ? templates.content(of: template) : TemplateRegister.none
        var (other, steps) = (columns.follower(of: row), 0)
        var first = row
        while other != row, steps < 16 {
            steps += 1
            let its = columns.templates[other]
            if other < first, (its == TemplateRegister.none) == !isTemplate, !isTemplate || templates.content(of: its) == content,
                self.variables(of: other, in: columns) == variables, rows.containsSorted(other)
            {
                first = other
            }
            other = columns.follower(of: other)
        }
        guard other != row else { return first == row ? nil : first }
        // Every member of such a long chain gets here, in the order of the rows.
        if sameHandleChains[row] == nil {
            for member in columns.sameHandleChain(of: row) { sameHandleChains[member] = row }
        }
        let chain = sameHandleChains[row] ?? row
        let duplicate = DuplicateHandle(sameHandleChain: chain, content: content, variables: variables)
        if let original = duplicateHandles[duplicate] { return original }
        duplicateHandles[duplicate] = row
        return nil
    }
}

extension [UInt32] {
    /// The elements of both arrays, which are in ascending order.
    fileprivate func common(withSorted other: [UInt32]) -> [UInt32] {
        var found: [UInt32] = []
        found.reserveCapacity(Swift.min(count, other.count))
        var (index, its) = (0, 0)
        while index < count, its < other.count {
            if self[index] == other[its] {
                found.append(self[index])
                (index, its) = (index + 1, its + 1)
            } else if self[index] < other[its] {
                index += 1
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
