import PushModel

/// The templates of all registrations, each stored and compiled once and counted by use.
struct TemplateRegister: Sendable {
    /// The number for a registration without a template.
    static let none = UInt32.max

    private struct Description: Hashable {
        let name: String?
        let content: RegistrationTemplate.Content
    }

    private struct Entry: Sendable {
        var template: RegistrationTemplate
        var uses: Int
    }

    private var entries: [Entry?] = []
    /// Content number by template number; templates that render the same bytes share one.
    private var contentNumbers: [UInt32] = []
    private var free: [UInt32] = []
    private var numbers: [Description: UInt32] = [:]
    private var contents: [RegistrationTemplate.Content: (number: UInt32, uses: Int)] = [:]
    private var freeContents: [UInt32] = []
    /// End of the range of content numbers.
    private(set) var contentEnd: UInt32 = 0

    subscript(number: UInt32) -> RegistrationTemplate? {
        number == Self.none ? nil : entries[Int(number)]?.template
    }

    /// Whether a registration has a template with the same content.
    func hasContent(of template: RegistrationTemplate) -> Bool { contents[template.content] != nil }

    /// The content number of a template number that is in use.
    func content(of number: UInt32) -> UInt32 { contentNumbers[Int(number)] }

    /// The number of a template. Each call must be paired with `release(_:)`.
    mutating func take(_ template: RegistrationTemplate?) -> UInt32 {
        guard let template else { return Self.none }
        let description = Description(name: template.name, content: template.content)
        if let number = numbers[description] {
            entries[Int(number)]?.uses += 1
            return number
        }
        let number = free.popLast() ?? UInt32(entries.count)
        if number == entries.count {
            entries.append(nil)
            contentNumbers.append(Self.none)
        }
        entries[Int(number)] = Entry(template: template, uses: 1)
        contentNumbers[Int(number)] = acquireContent(template.content)
        numbers[description] = number
        return number
    }

    /// Adds a use of a number. Must be paired with `release(_:)`.
    mutating func share(_ number: UInt32) { entries[Int(number)]?.uses += 1 }

    mutating func release(_ number: UInt32) {
        guard number != Self.none, let entry = entries[Int(number)] else { return }
        guard entry.uses == 1 else {
            entries[Int(number)]?.uses -= 1
            return
        }
        numbers[Description(name: entry.template.name, content: entry.template.content)] = nil
        entries[Int(number)] = nil
        free.append(number)
        releaseContent(entry.template.content)
    }

    private mutating func acquireContent(_ content: RegistrationTemplate.Content) -> UInt32 {
        if let known = contents[content] {
            contents[content]?.uses += 1
            return known.number
        }
        var number = freeContents.popLast()
        if number == nil {
            number = contentEnd
            contentEnd += 1
        }
        contents[content] = (number ?? 0, 1)
        return number ?? 0
    }

    private mutating func releaseContent(_ content: RegistrationTemplate.Content) {
        guard let known = contents[content] else { return }
        guard known.uses == 1 else {
            contents[content]?.uses -= 1
            return
        }
        contents[content] = nil
        freeContents.append(known.number)
    }
}
