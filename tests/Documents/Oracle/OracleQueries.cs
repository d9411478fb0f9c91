using System.Globalization;
using System.Text.Json.Nodes;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>Draws documents and queries, these with their meaning, written from the page on the query language alone.</summary>
public sealed class OracleQueries
{
    private const string Wide = "wwwwwwwwwwwwwwww";

    private static readonly string[] _texts =
        ["anna", "Anna", "ANNA", "Ännchen", "ännchen", "Łukasz", "łUKASZ", "Иван", "иВАН", "zoë", "", " ", "a", "ab", "abc", "b", "5", "-5", "10", "9", "0.25", "名前", "名", "true", "null", "it's", "\"q\"", "a\\b", "x\ny", "😀", "😀b", "Ａ", "ſtraße", "straße", "\u212A", "k"];

    /// <summary>Whole numbers that no double holds, the greatest and the least, and one with more digits than its sum.</summary>
    private static readonly decimal[] _edges =
    [
        9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993, long.MaxValue, long.MaxValue - 1, long.MinValue,
        0.30000000000000004m, 0.3m
    ];

    private static readonly string[] _ids = ["docs/1", "docs/10", "DOCS/2", "docs/3", "Docs/", "docs/", "d", "x", "docs/25"];

    /// <summary>
    /// Paths, and what they may be asked: t texts, n numbers, a arrays, b booleans, o orders, e whether it is there.
    /// </summary>
    private static readonly (string Path, string[] Names, string Asked)[] _fields =
    [
        ("Name", ["Name"], "toe"), ("Age", ["Age"], "tnoe"), ("Mixed", ["Mixed"], "tnae"), ("Tags", ["Tags"], "tnae"),
        ("Tags[]", ["Tags"], "tna"), ("Flag", ["Flag"], "be"),
        ("Address.City", ["Address", "City"], "toe"), ("Address.Zip", ["Address", "Zip"], "tno"),
        ("Lines[].Product", ["Lines", "Product"], "ta"), ("Lines[].Qty", ["Lines", "Qty"], "na"),
        ("Lines.Product", ["Lines", "Product"], "ta"), ("Lines.Qty", ["Lines", "Qty"], "na"),
        ("'Address.City'", ["Address", "City"], "toe"), ("Long", ["Long"], "toe"), ("'Ship To'.City", ["Ship To", "City"], "to"), ("Missing", ["Missing"], "tnoe"),
        ("Score", ["Score"], "noe"), ("Rank", ["Rank"], "noe"),
    ];

    private static readonly OracleText _none = new("");

    private readonly Random _random;
    private readonly string[] _longTexts;
    private readonly bool _hasOddRanks;

    public OracleQueries(Random random)
    {
        _random = random;
        _hasOddRanks = random.Next(2) == 0;
        string[] starts =
            [.. Enumerable.Range(0, 3).Select(_ => string.Concat(Enumerable.Repeat(Wide, 24 + (8 * random.Next(3)))))];
        _longTexts = [
            .. Enumerable.Range(0, 24)
                .Select(
                    i => Pick(starts) + (char)('a' + random.Next(3)) + (i % 3 == 0 ? new string('é', random.Next(300)) : "")
                        + (random.Next(2) == 0 ? "W" : "z") + random.Next(4))];
    }

    public JsonObject Document()
    {
        var document = new JsonObject();
        Maybe(document, "Name", () => Pick(_texts));
        Maybe(document, "Age", Number);
        Maybe(
            document, "Mixed",
            () => _random.Next(4) switch
            {
                0 => Number(),
                1 => Array(() => _random.Next(2) == 0 ? Number() : Pick(_texts)),
                2 =>
                _random.Next(3) == 0 ? new JsonObject { ["In"] = 1 } : Pick(_texts),
                _ => Pick(_texts)
            });
        Maybe(document, "Tags", () => Array(() => _random.Next(6) switch { 0 => null, 1 => Number(), _ => Pick(_texts) }));
        Maybe(document, "Flag", () => _random.Next(2) == 0);
        Maybe(
            document, "Address",
            () =>
            {
                var at = new JsonObject(); Maybe(at, "City", () => Pick(_texts)); Maybe(
                at, "Zip", () => _random.Next(2) == 0 ? Number() : Pick(_texts)); return at;
            });
        Maybe(
            document, "Lines",
            () => Array(
                () =>
                {
                    var line = new JsonObject(); Maybe(line, "Product", () => Pick(_texts)); Maybe(
                    line, "Qty", Number); return line;
                }));
        Maybe(document, "Long", () => _random.Next(3) == 0 ? Pick(_texts) : Pick(_longTexts));
        Maybe(document, "Ship To", () => new JsonObject { ["City"] = Pick(_texts) });
        Maybe(document, "Score", () => JsonValue.Create(_random.Next(-400, 400) / 8m));
        Maybe(
            document, "Rank",
            () => _hasOddRanks && _random.Next(40) == 0 ? Array(() => _random.Next(3)) : JsonValue.Create(_random.Next(3)));
        return document;
    }

    /// <summary>Conditions over a few fields in groups, as deep as said.</summary>
    public OracleCondition Condition(int depth)
    {
        if (depth == 0 || _random.Next(3) == 0)
            return Leaf();
        bool isAnd = _random.Next(2) == 0;
        OracleCondition first = Condition(depth - 1);
        (string text, Func<OracleDocument, bool> holds) = (Group(first), first.Holds);
        for (int more = _random.Next(1, _random.Next(12) == 0 ? 12 : 4); more > 0; more--)
        {
            OracleCondition next = _random.Next(3) == 0 ? Condition(depth - 1) : Leaf();
            bool isNot = _random.Next(5) == 0;
            Func<OracleDocument, bool> before = holds;
            text += $" {(isAnd ? "and" : "or")} {(isNot ? "not " : "")}{Group(next)}";
            holds = isAnd
                ? document => before(document) && next.Holds(document) != isNot
                : document => before(document) || next.Holds(document) != isNot;
        }

        return new OracleCondition(text, holds);
    }

    /// <summary>A field to count the terms of, and which terms documents have in it, each of a document once.</summary>
    public (string Path, Func<OracleDocument, IEnumerable<string>> Terms) Facet()
    {
        (string path, string[] names, _) = Field('t');
        return (path, document => document.At(names)
            .Select(value => value.Text?.Folded.Plain)
            .OfType<string>()
            .Distinct());
    }

    /// <summary>A field to select, which no array is before, and its value in a document.</summary>
    public (string Path, Func<OracleDocument, string> Value) Row()
    {
        string path;
        string[] names;
        do
            (path, names, _) = _fields[_random.Next(_fields.Length)];
        while (names[0] == "Lines" || path.EndsWith(']'));
        return (path, document => document.Row(names));
    }

    /// <summary>From no key to three; the last may be the id.</summary>
    public List<OracleOrder> Orders()
    {
        var orders = new List<OracleOrder>();
        for (int count = _random.Next(4); count > 0; count--)
        {
            if (_random.Next(8) == 0)
            {
                orders.Add(new OracleOrder("id()", (x, y) => OracleText.Order(x.FoldedId, y.FoldedId)));
                continue;
            }

            (string path, string[] names, _) = Field('o');
            string type = _random.Next(3) switch { 0 => "", 1 => " as long", _ => " as double" };
            bool descends = _random.Next(2) == 0;
            bool? nullsFirst = _random.Next(4) switch { 0 => true, 1 => false, _ => null };
            string text = path + type + (descends ? " desc" : _random.Next(2) == 0 ? " asc" : "")
                + (nullsFirst is { } first ? first ? " nulls first" : " nulls last" : "");
            orders.Add(
                new OracleOrder(
                    text,
                    (x, y) => Compare(
                        Key(x, names, type), Key(y, names, type), descends, nullsFirst ?? !descends)));
        }

        return orders;
    }

    private static OracleValue? Key(OracleDocument document, string[] names, string type)
    {
        OracleValue? value = document.At(names).Find(at => !at.IsNull);
        if (type.Length == 0 || value is null)
            return value;
        return value.Number is { } number
            ? new OracleValue(null, type == " as long" ? decimal.Truncate(number) : Double(number), false)
            : null;
    }

    /// <summary>The double nearest to a number, exactly.</summary>
    private static decimal Double(decimal number) =>
        decimal.Parse(((double)number).ToString("F20", CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);

    private static int Compare(OracleValue? x, OracleValue? y, bool descends, bool nullsFirst)
    {
        if (x is null || y is null)
            return (x is null, y is null) switch
            {
                (true, true) => 0,
                (true, false) => nullsFirst ? -1 : 1,
                _ =>
                nullsFirst ? 1 : -1
            };
        int order = x is { Text: null, Number: { } left } && y is { Text: null, Number: { } right }
            ? left.CompareTo(right)
            // of a typed order no key has a text, of others each has
            : OracleText.Order(x.Text?.Folded ?? _none, y.Text?.Folded ?? _none);
        return descends ? -order : order;
    }

    private OracleCondition Leaf()
    {
        if (_random.Next(14) == 0)
            return OfId();
        if (_random.Next(10) == 0)
            return Sides();
        (string path, string[] names, string asked) = _fields[_random.Next(_fields.Length)];
        if (asked.Contains('e') && _random.Next(12) == 0)
            return new OracleCondition($"exists({path})", document => OracleValue.IsThere(document.Body, names));
        if (_random.Next(10) == 0)
            return Null(path, names);
        if (asked.Contains('b'))
            return OfBoolean(path, names);
        bool isNumber = asked.Contains('n') && (!asked.Contains('t') || _random.Next(2) == 0);
        bool isExact = _random.Next(6) == 0 && !isNumber;
        OracleCondition condition = isNumber
            ? OfNumbers(path, names)
            : OfTexts(path, names, isExact);
        return isExact ? condition with { Text = $"exact({condition.Text})" } : condition;
    }

    private static OracleCondition OfBoolean(string path, string[] names) =>
        new($"{path} = true", document => document.At(names).Exists(value => value.Text?.Plain == "true"));

    private OracleCondition Null(string path, string[] names)
    {
        bool isEqual = _random.Next(2) == 0;
        return new OracleCondition(
            $"{path} {(isEqual ? "=" : "!=")} null",
            document => (document.At(names) is var values
                && (values.Count == 0 || values.Exists(value => value.IsNull))) == isEqual);
    }

    private OracleCondition OfId()
    {
        string id = Pick(_ids);
        OracleText folded = new OracleText(id).Folded;
        return _random.Next(5) switch
        {
            0 => new OracleCondition($"id() = {Literal(id)}", of => of.FoldedId.Plain == folded.Plain),
            1 => new OracleCondition(
                $"startsWith(id(), {Literal(id)})",
                of => of.FoldedId.Plain.StartsWith(folded.Plain, StringComparison.Ordinal)),
            2 => new OracleCondition(
                $"id() in ({Literal(id)}, 'docs/7', 'nothing')",
                of => of.FoldedId.Plain is var mine && (mine == folded.Plain || mine == "docs/7")),
            3 => new OracleCondition($"id() >= {Literal(id)}", of => OracleText.Order(of.FoldedId, folded) >= 0),
            _ => new OracleCondition($"id() < {Literal(id)}", of => OracleText.Order(of.FoldedId, folded) < 0),
        };
    }

    private OracleCondition OfNumbers(string path, string[] names)
    {
        (decimal a, decimal b) = (Draw(), Draw());
        bool Any(OracleDocument document, Func<decimal, bool> test) =>
            document.At(names).Exists(value => value.Number is { } number && test(number));
        return _random.Next(9) switch
        {
            0 => new OracleCondition($"{path} = {Literal(a)}", document => Any(document, value => value == a)),
            1 => new OracleCondition($"{path} != {Literal(a)}", document => !Any(document, value => value == a)),
            <= 5 => Side(path, names, a),
            6 => new OracleCondition(
                $"{path} between {Literal(a)} and {Literal(b)}",
                document => Any(document, value => value >= a && value <= b)),
            7 => new OracleCondition(
                $"{path} in ({Literal(a)}, {Literal(b)})", document => Any(document, value => value == a || value == b)),
            _ => new OracleCondition(
                $"{path} all in ({Literal(a)}, {Literal(b)})",
                document => Any(document, value => value == a) && Any(document, value => value == b)),
        };
    }

    /// <summary>Two comparisons of one field, often with the same number.</summary>
    private OracleCondition Sides()
    {
        (string path, string[] names, _) = Field('n');
        decimal a = Draw();
        OracleCondition x = Side(path, names, a), y = Side(path, names, _random.Next(2) == 0 ? a : Draw());
        return _random.Next(4) == 0
            ? new OracleCondition($"{x.Text} or {y.Text}", document => x.Holds(document) || y.Holds(document))
            : new OracleCondition($"{x.Text} and {y.Text}", document => x.Holds(document) && y.Holds(document));
    }

    private OracleCondition Side(string path, string[] names, decimal end)
    {
        (string sign, Func<decimal, bool> test) = _random.Next(4) switch
        {
            0 => ("<", new Func<decimal, bool>(value => value < end)),
            1 => ("<=", value => value <= end),
            2 => (">", value => value > end),
            _ => (">=", value => value >= end),
        };
        return new OracleCondition(
            $"{path} {sign} {Literal(end)}",
            document => document.At(names).Exists(value => value.Number is { } number && test(number)));
    }

    private OracleCondition OfTexts(string path, string[] names, bool isExact)
    {
        bool isLong = path == "Long" && _random.Next(3) > 0;
        string a = Pick(isLong ? _longTexts : _texts), b = Pick(isLong ? _longTexts : _texts);
        OracleText Form(string text) => new OracleText(text).Form(isExact);
        (OracleText x, OracleText y) = (Form(a), Form(b));
        bool Any(OracleDocument document, Func<OracleText, bool> test) =>
            document.At(names).Exists(value => value.Text is { } text && test(text.Form(isExact)));
        bool Equals(OracleDocument document, OracleText wanted) => Any(document, value => value.Plain == wanted.Plain);
        string piece = a.Length <= 20 ? a : a[^2..];
        string start = a.Length <= 20 ? a : a[..20];
        string formOfPiece = Form(piece).Plain, formOfStart = Form(start).Plain;
        return _random.Next(11) switch
        {
            0 => new OracleCondition($"{path} = {Literal(a)}", document => Equals(document, x)),
            1 => new OracleCondition($"{path} != {Literal(a)}", document => !Equals(document, x)),
            2 => new OracleCondition(
                $"{path} < {Literal(a)}", document => Any(document, value => OracleText.Order(value, x) < 0)),
            3 => new OracleCondition(
                $"{path} <= {Literal(a)}", document => Any(document, value => OracleText.Order(value, x) <= 0)),
            4 => new OracleCondition(
                $"{path} > {Literal(a)}", document => Any(document, value => OracleText.Order(value, x) > 0)),
            5 => new OracleCondition(
                $"{path} >= {Literal(a)}", document => Any(document, value => OracleText.Order(value, x) >= 0)),
            6 => new OracleCondition(
                $"{path} between {Literal(a)} and {Literal(b)}",
                document => Any(document, value => OracleText.Order(value, x) >= 0 && OracleText.Order(value, y) <= 0)),
            7 => new OracleCondition(
                $"{path} in ({Literal(a)}, {Literal(b)})", document => Equals(document, x) || Equals(document, y)),
            8 => new OracleCondition(
                $"{path} all in ({Literal(a)}, {Literal(b)})",
                document => Equals(document, x) && Equals(document, y)),
            9 => new OracleCondition(
                $"startsWith({path}, {Literal(start)})",
                document => Any(document, value => value.Plain.StartsWith(formOfStart, StringComparison.Ordinal))),
            _ => new OracleCondition(
                $"endsWith({path}, {Literal(piece)})",
                document => Any(document, value => value.Plain.EndsWith(formOfPiece, StringComparison.Ordinal))),
        };
    }

    private (string Path, string[] Names, string Asked) Field(char asked)
    {
        while (true)
        {
            (string Path, string[] Names, string Asked) field = _fields[_random.Next(_fields.Length)];
            if (field.Asked.Contains(asked))
                return field;
        }
    }

    private static string Group(OracleCondition condition) =>
        condition.Text.Contains(" and ", StringComparison.Ordinal) || condition.Text.Contains(" or ", StringComparison.Ordinal)
            ? $"({condition.Text})"
            : condition.Text;

    private static string Literal(string text) => $"'{text.Replace("'", "''", StringComparison.Ordinal)}'";

    private static string Literal(decimal number) => number.ToString(CultureInfo.InvariantCulture);

    private decimal Draw() => _random.Next(10) switch
    {
        0 => _edges[_random.Next(_edges.Length)],
        <= 3 => _random.Next(-6, 12),
        <= 6 => _random.Next(-24, 48) / 4m,
        _ => _random.Next(-1_000, 1_000),
    };

    private JsonNode Number()
    {
        decimal number = Draw();
        return decimal.IsInteger(number) ? JsonValue.Create((long)number) : JsonValue.Create((double)number);
    }

    private JsonArray Array(Func<JsonNode?> element) => new([.. Enumerable.Range(0, _random.Next(4)).Select(_ => element())]);

    private void Maybe(JsonObject parent, string name, Func<JsonNode?> value)
    {
        int drawn = _random.Next(12);
        if (drawn > 0)
            parent[name] = drawn == 1 ? null : value();
    }

    private string Pick(string[] from) => from[_random.Next(from.Length)];
}
