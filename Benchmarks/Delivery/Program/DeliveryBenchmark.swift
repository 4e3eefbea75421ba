import Glibc

/// The sender of `make bench-delivery`.
@main struct DeliveryBenchmark {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.count == 3, words[0] == "prepare", let devices = Int(words[2]) {
            return try await PipelineRun.prepare(file: words[1], devices: devices)
        }
        guard words.count == 6, let port = Int(words[1]), let streams = Int(words[4]) else { usage() }
        let sink = Sink(port: port, certificate: words[2], key: words[3], streams: streams)
        switch words[0] {
        case "connector":
            guard let pushes = Int(words[5]) else { usage() }
            try await ConnectorRun(sink: sink, pushes: pushes).run()
        case "pipeline": try await PipelineRun(sink: sink, file: words[5]).run()
        default: usage()
        }
    }

    private static func usage() -> Never {
        print(
            """
            DeliveryBenchmark connector PORT CERTIFICATE KEY STREAMS PUSHES
            DeliveryBenchmark prepare FILE DEVICES
            DeliveryBenchmark pipeline PORT CERTIFICATE KEY STREAMS FILE
            """)
        exit(2)
    }
}
