import PushModel
import Testing

@Suite struct NearestNameTests {
    @Test(
        "The nearest name is found",
        arguments: [
            ("Sprots", "Sports"), ("sports", "Sports"), ("Sport", "Sports"), ("Politcs", "Politics"),
            ("Polltics", "Politics"), ("Größee", "Größe"), ("cafe", "café"), ("Sportss", "Sports"),
        ])
    func found(name: String, meant: String) {
        #expect(nearest(name, in: ["Weather", "Sports", "Politics", "Größe", "café"]) == meant)
    }

    @Test("Without a near name there is no suggestion", arguments: ["Xylophone", "", "S", "Spqrts__", "xyz"])
    func notFound(name: String) {
        #expect(nearest(name, in: ["Sports", "Weather"]) == nil)
    }

    @Test("Of equally near names, the alphabetically first one is chosen, whatever their order") func ties() {
        #expect(nearest("cat", in: ["rat", "bat", "hat"]) == "bat")
        #expect(nearest("cat", in: ["hat", "bat", "rat"]) == "bat")
    }

    @Test("There is no search for a name of more than 128 characters") func long() {
        let long = String(repeating: "a", count: 129)
        #expect(nearest(long, in: [long]) == nil)
    }
}
