import Support
import Testing

@testable import PushHub
@testable import PushModel

/// Sets of every density, so that every kind of container and every order of evaluation occurs.
@Suite struct AudiencePlanTests {
    /// One bit per row; evaluates every operation bit by bit.
    private struct BitTable {
        static let words = 4 * 1024

        var live = [UInt64](repeating: 0, count: words)
        var columns: [PushModel.Tag: [UInt64]] = [:]

        mutating func set(_ row: UInt32, _ tags: [PushModel.Tag]) {
            let (word, bit) = (Int(row >> 6), UInt64(1) << UInt64(row & 63))
            live[word] |= bit
            for tag in tags { columns[tag, default: [UInt64](repeating: 0, count: Self.words)][word] |= bit }
        }

        func bits(_ expression: TagExpression) -> [UInt64] {
            switch expression {
            case .tag(let tag): columns[tag] ?? [UInt64](repeating: 0, count: Self.words)
            case .not(let inner): zip(live, bits(inner)).map { $0 & ~$1 }
            case .and(let terms): terms.reduce(live) { zip($0, bits($1)).map { $0 & $1 } }
            case .or(let terms): terms.reduce([UInt64](repeating: 0, count: Self.words)) { zip($0, bits($1)).map { $0 | $1 } }
            }
        }

        func select(_ expression: TagExpression) -> [UInt32] {
            bits(expression).enumerated().flatMap { word, bits in
                bits == 0 ? [] : (0..<64).filter { bits >> UInt64($0) & 1 == 1 }.map { UInt32(word << 6 + $0) }
            }
        }
    }

    /// In thousandths of a percent.
    private static let densities = [50, 100, 200, 500, 1000, 2500, 5000, 10_000, 20_000, 50_000, 99_000]

    /// Built once for all tests.
    private static let shared = Result { try audience(seed: 1) }

    private static func tag(_ density: Int, _ copy: Int) throws -> PushModel.Tag { try Tag("d\(density).\(copy)") }

    /// A full block, a half-full block, an empty block, and a block with only its first and last rows.
    private static func rows(_ random: inout SplitMix64) -> [UInt32] {
        var rows: [UInt32] = Array(0..<65_536)
        rows += (65_536..<131_072).filter { _ in random.chance(50) }
        return rows + [196_608, 196_609, 262_142, 262_143]
    }

    private static func audience(seed: UInt64) throws -> (AudienceIndex, BitTable) {
        var random = SplitMix64(seed: seed)
        let tags = try densities.flatMap { density in try (0..<2).map { (density, try tag(density, $0)) } }
        var (loader, table) = (AudienceIndex.Loader(), BitTable())
        for row in rows(&random) {
            let held = tags.filter { Int.random(in: 0..<100_000, using: &random) < $0.0 }.map(\.1)
            loader.insert(row, tags: held)
            table.set(row, held)
        }
        return (loader.finish(), table)
    }

    private func expression(_ random: inout SplitMix64, depth: Int) throws -> TagExpression {
        let length = Int.random(in: 2...4, using: &random)
        switch depth == 0 ? 0 : Int.random(in: 0..<7, using: &random) {
        case 0, 1: return .tag(try Self.tag(Self.densities[Int.random(in: 0..<11, using: &random)], Int.random(in: 0..<2, using: &random)))
        case 2: return .not(try expression(&random, depth: depth - 1))
        case 3, 4, 5: return .and(try (0..<length).map { _ in try expression(&random, depth: depth - 1) })
        default: return .or(try (0..<length).map { _ in try expression(&random, depth: depth - 1) })
        }
    }

    @Test func `Expressions over sets of every density agree with a bitwise evaluation`() async throws {
        let (index, table) = try Self.shared.get()
        var random = SplitMix64(seed: 2)
        for _ in 0..<300 {
            await Task.yield()
            let expression = try expression(&random, depth: 3)
            #expect(index.select(expression) == table.select(expression), "\(expression)")
        }
        #expect(index.select(nil) == table.select(.and([])))
    }

    @Test func `The expression of the benchmark is right at every density of its parts`() async throws {
        let (index, table) = try Self.shared.get()
        for first in Self.densities {
            for driver in Self.densities {
                await Task.yield()
                let expression = TagExpression.and([
                    .or([.tag(try Self.tag(first, 0)), .tag(try Self.tag(10_000, 0))]), .tag(try Self.tag(driver, 1)),
                    .not(.tag(try Self.tag(20_000, 1))),
                ])
                #expect(index.select(expression) == table.select(expression), "\(expression)")
            }
        }
    }

    @Test func `The evaluation time of a deep expression is linear in its length`() throws {
        let (index, table) = try Self.shared.get()
        var expression = TagExpression.tag(try Self.tag(2500, 0))
        for depth in 0..<TagExpression.maximumDepth {
            let other = TagExpression.tag(try Self.tag(Self.densities[depth % 11], 1))
            expression = depth.isMultiple(of: 2) ? .and([.not(expression), other]) : .or([other, expression])
        }
        #expect(index.select(expression) == table.select(expression))
    }

    @Test func `Blocks contain the rows of the selection, each block its own`() throws {
        let (index, _) = try Self.shared.get()
        for expression in [nil, .tag(try Self.tag(50, 0)), .not(.tag(try Self.tag(50_000, 0)))] as [TagExpression?] {
            let blocks = Array(index.selection(expression).blocks)
            #expect(blocks.flatMap(\.rows) == index.select(expression))
            #expect(blocks.allSatisfy { block in block.rows.allSatisfy { $0 >> 16 == block.number } })
            #expect(blocks.map(\.number) == blocks.map(\.number).sorted() && Set(blocks.map(\.number)).count == blocks.count)
        }
        #expect(index.selection(nil).blocks.map(\.number) == [0, 1, 3])
    }
}
