import Glibc

/// The sender of `make bench-delivery`.
@main struct DeliveryBenchmark {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.count == 3, words[0] == "prepare", let devices = Int(words[2]) {
            return try await PipelineRun.prepare(file: words[1], devices: devices)
        }
        if words.count == 2, words[0] == "curve", let messages = Int(words[1]) { return try CurveRun(messages: messages).run() }
        guard words.count == 7, let service = Service(rawValue: words[1]), let port = Int(words[2]), let streams = Int(words[5]) else {
            usage()
        }
        let sink = Sink(port: port, certificate: words[3], key: words[4], streams: streams)
        switch words[0] {
        case "connector":
            guard let pushes = Int(words[6]) else { usage() }
            try await ConnectorRun(service: service, sink: sink, pushes: pushes).run()
        case "pipeline" where service == .apns: try await PipelineRun(sink: sink, file: words[6]).run()
        default: usage()
        }
    }

    private static func usage() -> Never {
        print(
            """
            DeliveryBenchmark connector apns|fcm|webpush PORT CERTIFICATE KEY STREAMS PUSHES
            DeliveryBenchmark curve MESSAGES
            DeliveryBenchmark prepare FILE DEVICES
            DeliveryBenchmark pipeline apns PORT CERTIFICATE KEY STREAMS FILE
            """)
        exit(2)
    }
}
