import Glibc
import StockLua

/// Runs this program again, for measurements that cannot share a process.
enum ChildProcess {
    /// The wait status, and the printed words.
    static func run(_ arguments: [String]) -> (status: Int32, words: [String]) {
        let file = "/tmp/bench-lua-\(getpid())"
        defer { unlink(file) }
        let strings = (["bench-lua"] + arguments).map { strdup($0) }
        defer { for string in strings { free(string) } }
        let status = (strings.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer {
            stock_run_again($0.baseAddress, file)
        }
        guard let output = fopen(file, "r") else { return (status, []) }
        defer { fclose(output) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, output)
        let text = String(decoding: buffer.prefix(count), as: UTF8.self)
        return (status, text.split { $0 == " " || $0 == "\n" }.map(String.init))
    }
}
