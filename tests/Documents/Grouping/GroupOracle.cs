using System.Globalization;
using System.Numerics;
using System.Text;

namespace Treepie.Documents.Tests.Grouping;

/// <summary>Random documents with values whose one spelling is known, and what groups of them are, by LINQ.</summary>
internal sealed class GroupOracle(Random random)
{
    private static readonly (string Json, string Canonical)[] _cities =
    [
        ("\"Berlin\"", "\"Berlin\""), ("\"berlin\"", "\"berlin\""), ("\"B\\u0065rlin\"", "\"Berlin\""), ("\"Köln\"", "\"Köln\""),
        ("\"\\ud83d\\ude00\"", "\"😀\""), ("\"\"", "\"\""),
        ("null", "null"), ("", "null"), ("1", "1"), ("1.0", "1"), ("10e-1", "1"), ("\"1\"", "\"1\""), ("-0.0", "0"), ("0", "0"),
        ("true", "true"), ("12345678901234567890.50", "12345678901234567890.5"),
        ("{\"a\":1.50,\"b\":[]}", "{\"a\":1.5,\"b\":[]}"), ("[\"x\",2.0]", "[\"x\",2]"),
        ($"\"{new string('l', 300)}\"", $"\"{new string('l', 300)}\""),
        ($"\"{new string('l', 299)}\"", $"\"{new string('l', 299)}\""),
        ("\"quote\\\"d\\\\ \\n\"", "\"quote\\\"d\\\\ \\u000a\""),
    ];

    private static readonly string[] _freights =
        ["0.1", "0.2", "0.7", "-0.3", "1e2", "1000000000000000000", "2.5E-3", "7", "\"text\"", "null", "", "[1,2.5]", "1e-20"];

    private readonly SortedDictionary<string, Order> _orders = new(StringComparer.Ordinal);

    /// <summary>Ids of documents that are there.</summary>
    public IReadOnlyCollection<string> Ids => _orders.Keys;

    /// <summary>Puts a document with random values; gives its JSON.</summary>
    public string Put(string id)
    {
        var order = new Order(
            Pick(_cities), Pick(_freights),
            [.. Enumerable.Range(0, random.Next(4)).Select(_ => (Pick(_cities), random.Next(5)))]);
        _orders[id] = order;
        var json = new StringBuilder("{\"Padding\":").Append(random.Next(1000));
        if (order.City.Json.Length > 0)
            json.Append(",\"Ship\":{\"City\":").Append(order.City.Json).Append('}');
        if (order.Freight.Length > 0)
            json.Append(",\"Freight\":").Append(order.Freight);
        if (order.Lines.Count > 0 || random.Next(2) == 0)
            json.Append(",\"Lines\":[")
                .AppendJoin(
                    ',',
                    order.Lines.Select(
                        line =>
                            $"{{{(line.Product.Json.Length > 0 ? $"\"Product\":{line.Product.Json}," : "")}\"Quantity\":"
                                + $"{line.Quantity}}}"))
                .Append(']');
        return json.Append(",\"@metadata\":{\"@collection\":\"Orders\"}}").ToString();
    }

    public void Delete(string id) => _orders.Remove(id);

    /// <summary>
    /// Bodies of <c>group by Ship.City select Ship.City, count(), sum(Freight), min(Freight) as Least, max(Freight)</c>, in no
    /// order.
    /// </summary>
    /// <param name="idPrefix">The beginning of the ids of the documents that are grouped.</param>
    public IEnumerable<string> ByCity(string idPrefix = "") => _orders
        .Where(order => order.Key.StartsWith(idPrefix, StringComparison.Ordinal))
        .Select(static order => order.Value)
        .GroupBy(order => order.City.Canonical)
        .Select(
            group =>
                $"{{\"Ship.City\":{group.Key},\"Count\":{group.Count()},\"Freight\":"
                    + $"{Number(group.Aggregate(BigInteger.Zero, (sum, order) => sum + Units(order.Freight)))},\"Least\":"
                    + $"{Extreme(group, isGreatest: false)},\"max(Freight)\":{Extreme(group, isGreatest: true)}}}");

    /// <summary>Numbers come before texts; what is neither does not count.</summary>
    private static string Extreme(IEnumerable<Order> group, bool isGreatest)
    {
        string[] freights =
            [.. group.Select(order => order.Freight).Where(freight => freight is not ("" or "null" or "[1,2.5]"))];
        BigInteger[] numbers = [.. freights.Where(freight => freight != "\"text\"").Select(Units)];
        bool hasText = freights.Length > numbers.Length;
        if (numbers.Length == 0 || (isGreatest && hasText))
            return hasText ? "\"text\"" : "null";
        return Number(isGreatest ? numbers.Max() : numbers.Min());
    }

    /// <summary>Bodies of <c>group by Ship.City, array(Lines[].Quantity) select key(), count()</c>.</summary>
    public IEnumerable<string> ByCityAndQuantities() =>
        _orders.Values.GroupBy(order => (order.City.Canonical, string.Join(',', order.Lines.Select(line => line.Quantity))))
            .Select(
                group =>
                    $"{{\"Key\":{{\"Ship.City\":{group.Key.Canonical},\"array(Lines[].Quantity)\":["
                        + $"{group.Key.Item2}]}},\"Count\":{group.Count()}}}");

    /// <summary>
    /// Bodies of <c>group by Lines[].Product, Lines[].Quantity select Lines[].Product, Lines[].Quantity, count(),
    /// sum(Lines[].Quantity)</c>.
    /// </summary>
    public IEnumerable<string> ByLine() =>
        _orders.Values.SelectMany(order => order.Lines).GroupBy(line => (line.Product.Canonical, line.Quantity))
            .Select(
                group =>
                    $"{{\"P\":{group.Key.Canonical},\"Q\":{group.Key.Quantity},\"Count\":{group.Count()},\"Sum\":"
                        + $"{group.Sum(line => line.Quantity)}}}");

    /// <summary>A freight in units of 10^-20: a decimal has not digits enough for all of them together.</summary>
    private static BigInteger Units(string freight) => freight switch
    {
        "" or "null" or "\"text\"" or "[1,2.5]" => 0,
        "1e-20" => 1,
        _ => new BigInteger(decimal.Parse(freight, NumberStyles.Float, CultureInfo.InvariantCulture) * 10_000)
            * BigInteger.Pow(10, 16),
    };

    private static string Number(BigInteger units)
    {
        string digits = BigInteger.Abs(units).ToString(CultureInfo.InvariantCulture).PadLeft(21, '0');
        string text = $"{(units < 0 ? "-" : "")}{digits[..^20]}.{digits[^20..]}";
        return text.TrimEnd('0').TrimEnd('.');
    }

    private T Pick<T>(T[] from) => from[random.Next(from.Length)];

    private sealed record Order(
        (string Json, string Canonical) City, string Freight,
        IReadOnlyList<((string Json, string Canonical) Product, int Quantity)> Lines);
}
