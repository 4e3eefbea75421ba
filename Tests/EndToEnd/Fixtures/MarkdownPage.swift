import Foundation
import HostSupport

/// A Markdown file of the repository: the anchors of its headings, and its relative links. Fenced blocks and code spans are not read.
struct MarkdownPage: Sendable {
    struct Link: Sendable {
        let line: Int
        /// A path from the root of the repository.
        let path: String
        let anchor: String?
    }

    let path: String
    private(set) var anchors: Set<String> = []
    private(set) var links: [Link] = []

    /// All Markdown files of the repository, outside of hidden folders.
    static let all: [MarkdownPage] = {
        guard
            let files = FileManager.default.enumerator(
                at: BuiltProgram.root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        else { return [] }
        let paths = files.compactMap { ($0 as? URL)?.path }.filter { $0.hasSuffix(".md") }
        return paths.map { String($0.dropFirst(BuiltProgram.root.path.count).drop { $0 == "/" }) }.sorted().map { MarkdownPage(path: $0) }
    }()

    init(path: String) {
        self.path = path
        let text = (try? String(contentsOf: BuiltProgram.root.appending(path: path), encoding: .utf8)) ?? ""
        var isInBlock = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isInBlock.toggle()
            } else if !isInBlock {
                read(line, number: index + 1)
            }
        }
    }

    private mutating func read(_ line: Substring, number: Int) {
        for match in line.matches(of: /<a id="([^"]+)">/) { anchors.insert(String(match.1)) }
        if let heading = line.wholeMatch(of: /#{1,6} (.*)/) {
            let anchor = Self.anchor(of: heading.1)
            var (unique, repetitions) = (anchor, 0)
            while !anchors.insert(unique).inserted {
                repetitions += 1
                unique = "\(anchor)-\(repetitions)"
            }
        }
        for match in line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/)
        where match.1.prefixMatch(of: /[a-z]+:/) == nil {
            let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            links.append(Link(line: number, path: resolved(parts[0]), anchor: parts.count > 1 ? String(parts[1]) : nil))
        }
    }

    /// Returns the path from the root of the repository for a path relative to this page. An empty path is the page itself.
    private func resolved(_ relative: Substring) -> String {
        guard !relative.isEmpty else { return path }
        var folders = path.split(separator: "/").dropLast()
        for part in relative.split(separator: "/") where part != "." {
            if part == ".." && !folders.isEmpty && folders.last != ".." {
                folders.removeLast()
            } else {
                folders.append(part)
            }
        }
        return folders.joined(separator: "/")
    }

    /// Returns the anchor that GitHub gives to a heading.
    private static func anchor(of heading: Substring) -> String {
        let text = heading.replacing(/<[^>]*>/, with: "").replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }
        return String(
            text.lowercased().compactMap { character -> Character? in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || character == "-" || character == "_" ? character : nil
            })
    }
}
