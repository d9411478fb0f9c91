using System.Globalization;
using System.Text.Json.Nodes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Random queries over the documents of a data set: values, beginnings, words and places are drawn from the documents themselves,
/// so that most conditions find something.
/// </summary>
/// <param name="random">Draws.</param>
/// <param name="documents">The documents.</param>
/// <param name="texts">Fields of whole texts.</param>
/// <param name="numbers">Fields of numbers.</param>
/// <param name="words">Fields of words, of letters and blanks alone.</param>
/// <param name="hasPlace">Whether there are places, at <c>location.lat</c> and <c>location.lng</c>.</param>
internal sealed class DataSetQueries(
    Random random, IReadOnlyList<JsonObject> documents, string[] texts, string[] numbers, string[] words, bool hasPlace)
{
    /// <summary>A query about every field in every way, so that one index is made for all.</summary>
    public string Everything => "where " + string.Join(
        " and ",
        [
            .. texts.Select(name => $"{name} != 'x' and exact({name} != 'x')"), .. numbers.Select(name => $"{name} > 0"),
            .. words.Select(name => $"search({name}, 'x')"),
            .. hasPlace ? (string[])[$"spatial.within({Place}, spatial.circle(1, 0, 0))"] : [], "id() != 'x'",
        ]);

    private const string Place = "spatial.point(location.lat, location.lng)";

    public string Query() =>
        $"where {Condition(random.Next(4))}"
            + $"{(random.Next(3) == 0 ? "" : " order by " + string.Join(", ", Enumerable.Range(0, random.Next(1, 4)).Select(_ => OrderKey())))}";

    private string Condition(int depth)
    {
        if (depth == 0)
            return Term();
        string left = Condition(random.Next(depth)), right = Condition(depth - 1);
        string joined = random.Next(7) switch
        {
            0 or 1 => $"{left} and {right}",
            2 or 3 => $"{left} or {right}",
            4 => $"{left} and not ({right})",
            5 => $"intersect({left}, {right})",
            _ => $"boost({left}, {random.Next(1, 5)}) or not ({right})",
        };
        return random.Next(2) == 0 ? $"({joined})" : joined;
    }

    private string Term()
    {
        string text = Pick(texts), value = Value(text);
        int kind = random.Next(20);
        if (words.Length > 0 && kind >= 15)
            return Words(Pick(words));
        return kind switch
        {
            0 or 1 => $"{text} = {Quoted(random.Next(2) == 0 ? value : value.ToUpperInvariant())}",
            2 => $"{text} != {Quoted(value)}",
            3 =>
                $"{text} in ({Quoted(value)}, {Quoted(Value(text))}, "
                    + $"{Quoted(Value(text))}{(random.Next(3) == 0 ? ", null" : "")})",
            4 => $"startsWith({text}, {Quoted(value[..Math.Min(value.Length, random.Next(1, 5))])})",
            5 => $"endsWith({text}, {Quoted(value[^Math.Min(value.Length, random.Next(1, 4))..])})",
            6 =>
                $"regex({text}, "
                    + $"{Quoted((random.Next(2) == 0 ? "^" : "") + Letters(value) + (random.Next(3) == 0 ? ".*" + Letters(value) : ""))})",
            7 => $"fuzzy({text} = {Quoted(value[..Math.Min(value.Length, 20)])}, {Pick(["0.8", "1", "2"])})",
            8 => $"exact({text} = {Quoted(value)})",
            9 => $"{text} {Pick(["<", "<=", ">", ">="])} {Quoted(value)}",
            10 => $"{text} all in ({Quoted(value)}, {Quoted(Value(text))})",
            11 => $"{Pick([.. texts, .. numbers])} {Pick(["=", "!="])} null",
            12 => $"id() {Pick(["<", ">="])} {Quoted(documents[random.Next(documents.Count)]["id"]?.GetValue<string>() ?? "")}",
            13 when hasPlace =>
                $"spatial.{Pick(["within", "intersects", "disjoint"])}({Place}, spatial.circle({random.Next(10, 3_000)}.3, "
                    + $"{At()}))",
            _ when numbers.Length == 0 => $"{text} = {Quoted(value)}",
            14 => $"{Pick(numbers)} between {random.Next(-100, 1_990)} and {random.Next(1_900, 100_000)}",
            _ => $"{Pick(numbers)} {Pick(["=", "!=", "<", "<=", ">", ">="])} {Number(Pick(numbers))}",
        };
    }

    private string Words(string field)
    {
        string[] there = Value(field).Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (there.Length < 3)
            return $"search({field}, 'the')";
        int first = random.Next(there.Length - 2);
        return random.Next(6) switch
        {
            0 => $"search({field}, '{there[first]} {there[^1]}')",
            1 => $"search({field}, '{there[first]} {there[^1]}', and)",
            2 => $"search({field}, '\"{there[first]} {there[first + 1]}\"')",
            3 => $"search({field}, '{there[first][..1]}*{there[first][^1]} {there[0]}', and)",
            4 => $"proximity(search({field}, '{there[first + random.Next(3)]} {there[first]}'), {random.Next(5)})",
            _ => $"search({field}, '{there[first]}')",
        };
    }

    private string OrderKey()
    {
        if (random.Next(5) == 0)
            return hasPlace
                ? $"spatial.distance({Place}, spatial.point({At()})){Pick(["", " desc"])}"
                : Pick(["random('seed')", "id()", "id() desc"]);
        string nulls = Pick(["", "", " nulls first", " nulls last"]), direction = Pick(["", " desc"]);
        return numbers.Length > 0 && random.Next(2) == 0
            ? $"{Pick(numbers)} as {Pick(["long", "double"])}{direction}{nulls}"
            : $"{Pick(texts)}{Pick(["", " as string", " as alphaNumeric"])}{direction}{nulls}";
    }

    /// <summary>A text that some document has in the field.</summary>
    private string Value(string field)
    {
        for (int i = 0; i < 20; i++)
        {
            List<NaiveValue> values = NaiveValue.At(documents[random.Next(documents.Count)], field.Split('.'))
                .FindAll(value => value.Kind == NaiveKind.Text && value.Text.Length > 0 && value.Text.All(c => c < 0x250));
            if (values.Count > 0)
                return values[random.Next(values.Count)].Text;
        }

        return "nothing";
    }

    private string Number(string field) =>
        NaiveValue.At(documents[random.Next(documents.Count)], field.Split('.'))
            .Find(value => value.Kind == NaiveKind.Number)?.Number.ToString(CultureInfo.InvariantCulture) ?? "1";

    /// <summary>The place of a document, a little aside.</summary>
    private string At()
    {
        JsonNode? place = documents[random.Next(documents.Count)]["location"];
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{Math.Round(place?["lat"]?.GetValue<double>() ?? 0, 2) * 0.9 + 0.003:0.####}, "
                + $"{Math.Round(place?["lng"]?.GetValue<double>() ?? 0, 2) * 0.9 + 0.003:0.####}");
    }

    private string Letters(string text)
    {
        string letters = string.Concat(text.Where(char.IsAsciiLetter));
        int start = random.Next(Math.Max(1, letters.Length - 2));
        return letters.Length == 0 ? "a" : letters.Substring(start, Math.Min(2, letters.Length - start));
    }

    private static string Quoted(string text) =>
        $"'{text.Replace("\\", "", StringComparison.Ordinal).Replace("'", "''", StringComparison.Ordinal)}'";

    private T Pick<T>(T[] from) => from[random.Next(from.Length)];
}
