using System.Globalization;
using System.Text.Json.Nodes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Documents and queries drawn from small alphabets, so that they meet: cases, accents, nulls, mixed kinds, arrays, nesting.
/// </summary>
internal sealed class RandomDocuments(Random random)
{
    private static readonly string[] _names =
    [
        "anna", "Anna", "ANNA", "Ännchen", "ännchen", "Łukasz", "łukasz", "Иван", "иван", "zoë", "ZOË", "a", "an", "5", "true",
        "名前", "", "a b"
    ];
    private static readonly string[] _cities = ["Reims", "reims", "Köln", "KÖLN", "Oslo", "item 2", "item 10", "Item 1"];
    private static readonly string[] _tagNames = ["red", "Red", "green", "blue", "x1", "x10"];
    private static readonly string[] _wordList = ["quick", "Brown", "fox", "zoë", "lazy", "dog", "Köln", "42"];

    private readonly string[] _longTexts = [.. Enumerable.Range(0, 20).Select(_ => LongText(random))];

    public JsonObject Document()
    {
        var document = new JsonObject();
        Maybe(document, "Name", 8, () => Pick(_names));
        Maybe(document, "Age", 8, Number);
        Maybe(document, "Active", 3, () => random.Next(2) == 0);
        Maybe(
            document, "Tags", 6,
            () => new JsonArray(
                [.. Enumerable.Range(0, random.Next(4)).Select(_ => random.Next(8) == 0 ? null : (JsonNode)Pick(_tagNames))]));
        Maybe(document, "Address", 6, Address);
        Maybe(document, "Lines", 6, () => new JsonArray([.. Enumerable.Range(0, random.Next(4)).Select(_ => (JsonNode?)Line())]));
        if (random.Next(4) > 0)
            document["At"] = Place();
        if (random.Next(3) > 0)
            document["Area"] = random.Next(6) == 0 ? new JsonArray(Area(), Area()) : Area();
        Maybe(document, "Long", 8, () => Pick(_longTexts));
        Maybe(document, "Notes", 6, () => string.Join(' ', Enumerable.Range(0, random.Next(1, 6)).Select(_ => Pick(_wordList))));
        return document;
    }

    /// <summary>Conditions, nested or not.</summary>
    public string Where() => Condition(random.Next(3));

    /// <summary>An order.</summary>
    public string Order() => string.Join(", ", Enumerable.Range(0, random.Next(1, 4)).Select(_ => OrderKey()));

    /// <summary>A query over the fields of the documents, without its paging.</summary>
    public string Query(string collection)
    {
        string where = random.Next(8) == 0 ? "" : " where " + Condition(random.Next(4));
        string order = random.Next(3) == 0
            ? ""
            : " order by " + string.Join(", ", Enumerable.Range(0, random.Next(1, 4)).Select(_ => OrderKey()));
        return $"from {collection}{(random.Next(3) == 0 ? " as d" : "")}{where}{order}";
    }

    private string Condition(int depth)
    {
        if (depth == 0)
            return Term();

        string left = Condition(depth - 1);
        string right = Condition(depth - 1);
        string joined = random.Next(6) switch
        {
            0 or 1 => $"{left} and {right}",
            2 or 3 => $"{left} or {right}",
            4 => $"{left} and not ({right})",
            _ => $"{left} or not ({right})",
        };
        return random.Next(2) == 0 ? $"({joined})" : joined;
    }

    private string Term()
    {
        string text = Field("Name", "Address.City", "Tags", "Tags[]", "Lines[].Product", "Lines.Product", "Address", "Active");
        string number = Field("Age", "Lines[].Quantity", "Address.Geo.Lat", "Name");
        string comparison = Pick(["=", "!=", "<", "<=", ">", ">="]);
        return random.Next(28) switch
        {
            25 or 26 => $"Long {comparison} '{Pick(_longTexts)}'",
            27 => random.Next(2) == 0
                ? $"Long between '{Pick(_longTexts)}' and '{Pick(_longTexts)}'"
                : $"Long in ('{Pick(_longTexts)}', '{Pick(_longTexts)}')",
            24 =>
                $"spatial.{Pick(["within", "contains", "intersects", "disjoint"])}(spatial.wkt(Area), "
                    + $"spatial.wkt('{(random.Next(3) == 0 ? Line(0.7031, 0.9191) : Box(0.7))}'))",
            17 =>
                $"regex({Field("Name", "Tags", "Address.City")}, "
                    + $"'{Pick(["^an", "na$", "[äa]n+", "x1?0*$", "^(re|gr)", "o.l", "^$"])}')",
            18 => $"fuzzy({Field("Name", "Tags", "Address.City")} = {Quoted()}, {Pick(["0.5", "0.8", "0.66", "1", "2", "0"])})",
            19 =>
                $"search(Notes, "
                    + $"'{Pick(["qu*", "*x", "b*wn", "f*x dog", "\"quick fox\"", "\"lazy dog\" 42", "\"brown fox dog\"", "zo* k*n"])}'{Pick(["", ", and", ", or"])})",
            20 => $"proximity(search(Notes, '{Pick(_wordList)} {Pick(_wordList)}'), {random.Next(4)})",
            21 => $"intersect({text} = {Quoted()}, {number} > 1)",
            22 => $"lucene(Notes, '{Pick(NaiveMethods.LuceneTexts).Lucene}')",
            23 => $"spatial.{Pick(["within", "intersects", "disjoint"])}(spatial.point(At.Lat, At.Lng), {Shape()})",
            0 or 1 => $"{text} {comparison} {Quoted()}",
            2 or 3 => $"{number} {comparison} {Pick(["1", "2", "2.5", "-3", "10", "0"])}",
            4 => $"{text} between 'a' and {Quoted()}",
            5 => $"{number} between {random.Next(-4, 4)} and {random.Next(2, 12)}",
            6 => $"{text} in ({Quoted()}, {Quoted()}, null)",
            7 => $"{number} in (1, 2.5, 10, 7)",
            8 => $"{Field("Tags", "Lines[].Product")} all in ({Quoted()}, {Quoted()})",
            9 => $"startsWith({text}, '{Pick(["a", "A", "x1", "ä", "р", "re", "и"])}')",
            10 => $"endsWith({text}, '{Pick(["a", "N", "ë", "1", "ин", "ка"])}')",
            11 => $"exists({Field("Name", "Age", "Tags", "Address", "Address.Geo.Lat", "Lines[].Product")})",
            12 => $"{text} {Pick(["=", "!="])} null",
            13 => $"exact({text} = {Quoted()})",
            14 =>
                $"search({Field("Notes", "Notes", "Address", "Lines[].Product")}, '{Pick(_wordList)} "
                    + $"{Pick(_wordList)}'{Pick(["", ", and", ", or"])})",
            15 => $"id() {Pick(["=", "!=", "<", ">="])} 'DOCS/{random.Next(60)}'",
            _ => Pick(["true", "Active = true", "d.Active != false", "boost(Age > 1, 2)", "Age in ()", "Name > null"]),
        };
    }

    private string Shape() => random.Next(2) == 0
        ? $"spatial.circle({Pick(["150.7", "777.7", "3333.3"])}, {random.Next(-8, 9) * 10 + 3}, {random.Next(-17, 18) * 10 + 3})"
        : $"spatial.wkt('ENVELOPE({Pick(["-170.5, 3.5", "-20.5, 60.5", "0.5, 170.5"])}, "
            + $"{Pick(["80.5, -3.5", "40.5, 10.5", "-10.5, -70.5"])})')";

    private JsonNode Area() => random.Next(3) == 0 ? Line(0.2513, 0.3377) : Box(0.25);

    /// <summary>
    /// A line, as WKT. Its ends have parts of a degree of their own, so that it goes through no corner of another shape.
    /// </summary>
    private string Line(double partX, double partY)
    {
        double x = (random.Next(-14, 10) * 10) + partX, y = (random.Next(-7, 4) * 10) + partY;
        return string.Create(
            CultureInfo.InvariantCulture,
            $"LINESTRING({x} {y}, {x + random.Next(1, 60)} "
                + $"{y + (random.Next(2) == 0 ? random.Next(1, 40) : -random.Next(1, 15))})");
    }

    /// <summary>A box, as WKT in one of its ways. With another part of a degree its edges are never those of another.</summary>
    private string Box(double part)
    {
        double west = (random.Next(-14, 10) * 10) + part,
            south = (random.Next(-7, 4) * 10) + part,
            east = west + random.Next(1, 60),
            north = south + random.Next(1, 40);
        return random.Next(2) == 0
            ? string.Create(CultureInfo.InvariantCulture, $"ENVELOPE({west}, {east}, {north}, {south})")
            : string.Create(
                CultureInfo.InvariantCulture,
                $"POLYGON(({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))");
    }

    private JsonObject Place()
    {
        JsonNode? Axis(int most) =>
            random.Next(9) == 0 ? null : random.Next(-most, most + 1) * 10 + (random.Next(2) == 0 ? 0 : 2.5);
        return random.Next(6) == 0
            ? new JsonObject { ["Lat"] = new JsonArray(10, 20.5), ["Lng"] = new JsonArray(30, Axis(17)) }
            : new JsonObject { ["Lat"] = Axis(8), ["Lng"] = Axis(17) };
    }

    private string OrderKey()
    {
        if (random.Next(7) == 0)
        {
            return Pick(
            [
                "spatial.distance(spatial.point(At.Lat, At.Lng), spatial.point(13, 23))",
                "spatial.distance(spatial.point(At.Lat, At.Lng), spatial.point(-33, 103)) desc",
                "custom(Name, 'ByLength')", "custom(Address.City, 'ByLength') desc nulls first", "random('seed')", "score()",
                "score()", "score() desc",
            ]);
        }

        string field = Field("Name", "Age", "Address.City", "Tags", "Active", "Lines[].Quantity", "Long", "Long", "id()");
        return field + Pick(["", "", " as string", " as long", " as double", " as alphaNumeric"])
            + Pick(["", "", " asc", " desc"]) + Pick(["", "", " nulls first", " nulls last"]);
    }

    /// <summary>
    /// A text about as long as the longest terms of an index, and the heads that longer ones are kept by there. Most begin alike.
    /// </summary>
    private static string LongText(Random random)
    {
        int shared = random.Next(4) switch
        {
            0 => random.Next(380, 388),
            1 => random.Next(508, 516),
            2 => 384,
            _ =>
            random.Next(380, 520)
        };
        int rest = random.Next(3) == 0 ? 0 : random.Next(140);
        return new string('w', shared) + new string((char)('u' + random.Next(4)), rest)
            + new[] { "", "a", "B", "2", "10" }[random.Next(5)];
    }

    private string Field(params string[] names) => Pick(names);

    private string Quoted() => $"'{Pick(random.Next(3) switch { 0 => _names, 1 => _cities, _ => _tagNames })}'";

    private JsonNode Number() => random.Next(8) switch
    {
        0 => 2.5,
        1 => -3,
        2 => 10.0,
        3 => "10",
        _ => random.Next(12),
    };

    private JsonNode Address()
    {
        var address = new JsonObject();
        Maybe(address, "City", 6, () => Pick(_cities));
        Maybe(address, "Geo", 3, () => new JsonObject { ["Lat"] = random.Next(12) });
        return address;
    }

    private JsonObject Line()
    {
        var line = new JsonObject();
        Maybe(line, "Product", 6, () => Pick(_tagNames));
        Maybe(line, "Quantity", 6, Number);
        return line;
    }

    /// <summary>Mostly the value; sometimes null, sometimes nothing, sometimes something else.</summary>
    private void Maybe(JsonObject owner, string name, int weight, Func<JsonNode> value)
    {
        int drawn = random.Next(weight + 3);
        if (drawn == 0)
            owner[name] = null;
        else if (drawn == 1)
            owner[name] = "other";
        else if (drawn > 2)
            owner[name] = value();
    }

    private T Pick<T>(T[] from) => from[random.Next(from.Length)];
}
