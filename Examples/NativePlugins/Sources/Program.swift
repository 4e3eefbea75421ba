import PushHostKit

@main
struct Program {
    static func main() async { await PushHostProgram.main(bindings: [Distance()], plugins: [SuppressionList.self]) }
}
