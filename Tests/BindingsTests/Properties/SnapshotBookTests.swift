import Testing

@testable import Bindings

/// The comparison of values with the snapshots of a test.
@Suite struct SnapshotBookTests {
    private func book(_ stored: [String: String], isUpdating: Bool = false) -> SnapshotBook {
        SnapshotBook(SnapshotBook.Source(stored: stored, isUpdating: isUpdating))
    }

    @Test func `a value is compared with the text of its key`() {
        let book = book(["t › 1": "x", "t › wire": "y"])
        #expect(book.compare("x", name: nil, test: "t") == SnapshotBook.Comparison(verdict: .same, key: "t › 1", stored: "x"))
        #expect(book.compare("z", name: "wire", test: "t") == SnapshotBook.Comparison(verdict: .different, key: "t › wire", stored: "y"))
        #expect(book.compare("z", name: nil, test: "t") == SnapshotBook.Comparison(verdict: .missing, key: "t › 2", stored: ""))
        #expect(book.seen == ["t › 1": "x", "t › wire": "z", "t › 2": "z"])
    }

    @Test func `the same name twice is numbered, and a key is one line`() {
        let book = book([:])
        let keys = ["a", "a", nil, "b\nc"].map { book.compare("x", name: $0, test: "t\nu").key }
        #expect(keys == ["t u › a", "t u › a 2", "t u › 1", "t u › b c"])
        #expect(keys.allSatisfy { SnapshotBook.isKey($0, of: "t\nu") })
        #expect(!SnapshotBook.isKey("tt › 1", of: "t"))
    }

    @Test func `every value is right in an update`() {
        let book = book(["t › 1": "x"], isUpdating: true)
        #expect(book.compare("y", name: nil, test: "t").verdict == .same)
        #expect(book.compare("y", name: "new", test: "t").verdict == .same)
        #expect(book.seen == ["t › 1": "y", "t › new": "y"])
    }
}
