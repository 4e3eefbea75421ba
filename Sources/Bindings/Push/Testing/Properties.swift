import Lua

/// Properties of flows, and generators for their cases. The prelude implements them.
enum PropertyBindings {
    static let all = [
        property, boolean, integer, number, text, list, oneOf, optional, map, filter, tag, tags, expression, device, template, time,
    ]

    static let property = Binding(
        "push.test.property",
        "Declares a test that holds for all values of its generators. It is run with many generated cases, each in isolation. A case that "
            + "fails is shrunk to the smallest one that fails in the same way, which is printed as Lua text.",
        takes: .positional([
            .required("name", .string, "what should hold"),
            .required("generators", .any, "a generator, or a table of generators and values"),
            .required("fn", .function, "the test, which gets the case"),
            .optional(
                "options", .table,
                "cases (100): the number of generated cases; shrinks (500): the most runs for a smaller case; examples: cases to run first"),
        ]),
        errors: ["args.too_deep", "test.discarded", "test.not_a_spec", "test.order"],
        example: """
            push.test.property("an expression and its negation differ", {
              expression = push.gen.expression(), tags = push.gen.tags(),
            }, function(case)
              local matches = push.tag.match(case.expression, case.tags)
              push.expect(push.tag.match("!" .. case.expression, case.tags)).to.equal(not matches)
            end)
            """, body: .prelude)

    private static func generator(
        _ name: String, _ summary: String, _ parameters: [Parameter] = [], errors: [String] = [], example: String
    ) -> Binding {
        Binding(
            "push.gen.\(name)", summary, takes: .positional(parameters), returns: "push.Generator", errors: errors, example: example,
            body: .prelude)
    }

    private static let item = Parameter.required("value", .any, "a generator, or a table of generators and values")
    private static let pool = Parameter.optional("pool", .list(.tag), "the tags to choose from; six without it")

    static let boolean = generator("boolean", "Generates false or true.", example: "push.gen.boolean()")

    static let integer = generator(
        "integer", "Generates whole numbers. Those close to 0 are the smallest.",
        [
            .optional("min", .integer, "the lowest; -1000 by default"),
            .optional("max", .integer, "the highest; by default 1000 more than min, or than 0"),
        ], example: "push.gen.integer(1, 20)")

    static let number = generator(
        "number", "Generates numbers in a range.",
        [.optional("min", .number, "the lowest; 0 by default"), .optional("max", .number, "the highest; 1 by default")],
        example: "push.gen.number(0, 0.5)")

    static let text = generator(
        "text", "Generates texts, also of characters that templates and JSON treat specially.",
        [
            .optional("min", .integer, "the fewest characters; 0 by default"),
            .optional("max", .integer, "the most characters; by default 20 more than min"),
            .optional("characters", .string, "the characters to choose from, the simplest first"),
        ], errors: ["args.empty"], example: "push.gen.text(1, 8)")

    static let list = generator(
        "list", "Generates lists of values.",
        [
            item, .optional("min", .integer, "the fewest values; 0 by default"),
            .optional("max", .integer, "the most values; by default 10 more than min"),
        ], example: "push.gen.list(push.gen.device(), 1, 5)")

    static let oneOf = generator(
        "one_of", "Chooses one of several values or generators. The first is the simplest.",
        [.required("choices", .list(.any), "values, generators, or tables of them")], errors: ["args.empty"],
        example: "push.gen.one_of { \"apns\", \"fcm\" }")

    static let optional = generator("optional", "Generates nil or a value.", [item], example: "push.gen.optional(push.gen.text())")

    static let map = generator(
        "map", "Generates what a function makes of a generated value.",
        [item, .required("fn", .function, "makes the value")],
        example: "push.gen.map(push.gen.integer(1, 9), function(number) return \"phone-\" .. number end)")

    static let filter = generator(
        "where", "Generates only values that a function accepts. A case is discarded if there is none in 100 attempts.",
        [item, .required("fn", .function, "returns whether the value is suitable")], errors: ["test.discarded"],
        example: "push.gen.where(push.gen.integer(), function(number) return number % 2 == 0 end)")

    static let tag = generator("tag", "Generates tags.", [pool], errors: ["args.empty"], example: "push.gen.tag { \"sports\", \"world\" }")

    static let tags = generator(
        "tags", "Generates lists of different tags.", [pool], errors: ["args.empty"], example: "push.gen.tags { \"sports\", \"world\" }")

    static let expression = generator(
        "expression", "Generates tag expressions over the same tags as push.gen.tags.", [pool], errors: ["args.empty"],
        example: "push.gen.expression { \"sports\", \"world\" }")

    static let device = generator(
        "device", "Generates tables for push.device, with a different name for each device of a case.",
        example: "push.gen.list(push.gen.device())")

    static let template = generator(
        "template",
        "Generates templates: body is the template, properties are values for all of its properties, and text is what the phone then shows.",
        [.optional("platform", .oneOf(["apns", "fcm"]), "the push service; apns by default")], example: "push.gen.template \"fcm\"")

    static let time = generator(
        "time", "Generates times after the current one of the run, as ISO 8601 text with whole minutes.",
        [.optional("days", .integer, "the most days from now; 7 by default, as for push.schedule")], example: "push.gen.time(2)")
}

extension TypeDescription {
    static let generator = TypeDescription("push.Generator", "A source of values for push.test.property.")
}
