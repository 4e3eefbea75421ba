import Glibc
import PushHub
import PushModel

/// Measures finding a notification's registrations, and updating the index over their tags.
enum TargetingFigures {
    private static let rounds = 15

    // MARK: - Expressions

    static func printExpressions() throws {
        let expressions = try Population.densities.map { density in
            let filter = Population.filter(density)
            return [
                try TagExpression(parsing: "(\(filter) || follows_Cardinals) && location_Boston && !muted"),
                try TagExpression(parsing: "promo && !\(filter)"),
            ]
        }
        var rows = Population.densities.map { "| \($0) %" }
        for count in [1_000_000, 10_000_000] as [UInt32] {
            let index = try load(try Population.graded(count))
            for (row, cells) in measure(expressions, in: index).enumerated() { rows[row] += cells }
        }
        print(
            """
            E1: (filter || follows_Cardinals) && location_Boston && !muted, 20,000 in Boston; E3: promo && !filter. CPU time, ids written \
            out, median of \(rounds) rounds; cold: after all the other expressions.

            | density of the filter | E1, 1 M, goal 150 µs | E1 cold | E3, 1 M | E1, 10 M, goal 500 µs | E1 cold | E3, 10 M |
            |---|\(String(repeating: "---:|", count: 6))
            """)
        for row in rows { print("\(row) |") }
        fflush(nil)
    }

    /// Measures all rows in turns and returns their cells.
    private static func measure(_ expressions: [[TagExpression]], in index: AudienceIndex) -> [String] {
        var cells = expressions.map { _ in [Rounds(), Rounds(), Rounds()] }
        for _ in 0..<rounds {
            for (row, pair) in expressions.enumerated() {
                func time(_ expression: TagExpression) -> Double { Measurement.time { _ = index.select(expression) } }
                cells[row][1].append(time(pair[0]))
                cells[row][0].append(time(pair[0]))
                cells[row][2].append(time(pair[1]))
            }
        }
        return cells.map { $0.map { " | \(Measurement.text($0.median))" }.joined() }
    }

    static func load(_ population: Population) throws -> AudienceIndex {
        var loader = AudienceIndex.Loader()
        try population.forEach { id, tags in loader.insert(id, tags: tags) }
        return loader.finish()
    }

    // MARK: - The index

    static func printIndex() throws {
        let population = try Population.typical(1_000_000)
        var rows: [[Tag]] = []
        try population.forEach { rows.append($1) }
        let before = Measurement.heap
        var index = AudienceIndex()
        let loading = Measurement.time { index = load(rows) }
        let bytes = Double(Measurement.heap - before) / Double(rows.count)
        let shared = Measurement.heap
        let withoutUsers = load(rows.map { Array($0.dropLast()) })
        let sharedBytes = Double(Measurement.heap - shared) / Double(withoutUsers.count)
        var figures = [
            Figure("rebuild of 1,000,000 with 5.3 tags", Measurement.text(loading), goal: "0.5 s"),
            Figure("index, bytes a registration", Measurement.digits(bytes)),
            Figure("… of tags that many share", Measurement.digits(sharedBytes)),
        ]
        figures += try updates(&index, rows)
        Figure.printTable("the index over 1,000,000", figures)
    }

    private static func load(_ rows: [[Tag]]) -> AudienceIndex {
        var loader = AudienceIndex.Loader()
        for (id, tags) in rows.enumerated() { loader.insert(UInt32(id), tags: tags) }
        return loader.finish()
    }

    /// Each of 100,000 upserts in random order.
    private static func updates(_ index: inout AudienceIndex, _ rows: [[Tag]]) throws -> [Figure] {
        var random = Numbers(seed: 7)
        let ids = Set((0..<100_000).map { _ in UInt32(random.next() % UInt64(rows.count)) }).sorted {
            $0 &* 2_654_435_761 < $1 &* 2_654_435_761
        }
        let old = ids.map { rows[Int($0)] }
        let cities = try (0..<50).map { try Tag("location_Town\($0)") }
        let moved = zip(ids, old).map { id, tags in tags.map { $0.text.hasPrefix("location_") ? cities[Int(id % 50)] : $0 } }
        let renamed = try zip(ids, moved).map { id, tags in Array(tags.dropLast()) + [try Population.user(id + 2_000_000)] }
        func run(_ name: String, from old: [[Tag]], to new: [[Tag]], offset: UInt32 = 0) -> Figure {
            let time = Measurement.time {
                for number in ids.indices { index.update(ids[number] + offset, from: old[number], to: new[number]) }
            }
            return Figure(name, Measurement.text(time / Double(ids.count)), goal: "2 µs")
        }
        let none = ids.map { _ in [Tag]() }
        var figures = [
            run("upsert with the same tags", from: old, to: old), run("upsert with another city", from: old, to: moved),
            run("upsert with another user", from: moved, to: renamed),
            run("upsert of a new registration, 5.3 tags", from: none, to: moved, offset: UInt32(rows.count)),
        ]
        let leaving = Measurement.time { for number in ids.indices { index.remove(ids[number], tags: renamed[number]) } }
        figures.append(Figure("removal of a registration, 5.3 tags", Measurement.text(leaving / Double(ids.count)), goal: "2 µs"))
        var copied = 0.0
        for number in 0..<200 {
            let copy = index
            copied += Measurement.time { index.update(ids[number], from: [], to: renamed[number]) }
            withExtendedLifetime(copy) {}
        }
        figures.append(Figure("the first upsert after a copy of the index, 5.3 tags", Measurement.text(copied / 200)))
        return figures
    }
}
