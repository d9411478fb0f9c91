using System.Buffers;
using System.Text.Json;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// Orders as a shop has them: companies and products that come again, prices, quantities and dates that do not. Everything of an
/// order follows from its number, so every run has the same. About 1.1 KB of JSON each.
/// </summary>
internal sealed class Orders : IDisposable
{
    public const string Collection = "Orders";

    private const int Companies = 5_000, Employees = 200, Products = 3_000, Cities = 400, MaxLines = 10;

    private static readonly string[] _syllables =
        ["ka", "ro", "lin", "ber", "ta", "mo", "vis", "che", "dor", "en", "fal", "gu", "hem", "is", "jo", "kel", "lu", "mar", "nor", "os", "pel", "qui", "ran", "sto", "tri", "ul", "ven", "wes", "xan", "yor", "zel", "ard"];

    private static readonly string[] _countries =
    [
        "France", "Germany", "Brazil", "Belgium", "Switzerland", "Venezuela", "Austria", "Mexico", "USA", "Sweden", "Finland",
        "Italy", "Spain", "UK", "Ireland", "Portugal", "Canada", "Denmark", "Poland", "Norway", "Argentina"
    ];

    private readonly ArrayBufferWriter<byte> _buffer = new();
    private readonly Utf8JsonWriter _json;

    public Orders() => _json = new Utf8JsonWriter(_buffer, new JsonWriterOptions { SkipValidation = true });

    /// <inheritdoc/>
    public void Dispose() => _json.Dispose();

    /// <summary>The order of a number; valid until the next is made.</summary>
    public ReadOnlyMemory<byte> Make(int number)
    {
        ulong state = (ulong)number * 0x9E3779B97F4A7C15;
        _buffer.ResetWrittenCount();
        _json.Reset();
        _json.WriteStartObject();
        int company = Skewed(ref state, Companies);
        _json.WriteString("Company", $"companies/{company}-A");
        _json.WriteString("Employee", $"employees/{Next(ref state, Employees)}-A");
        _json.WriteNumber("Freight", Next(ref state, 100_000) / 100m);
        WriteLines(ref state);
        DateTime ordered = new DateTime(2020, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddSeconds((number * 97L) + Next(ref state, 97));
        WriteTime("OrderedAt", ordered);
        WriteTime("RequireAt", ordered.Date.AddDays(14 + Next(ref state, 28)));
        WriteShipTo(company);
        _json.WriteString("ShipVia", $"shippers/{1 + Next(ref state, 3)}-A");
        if (Next(ref state, 20) == 0)
            _json.WriteNull("ShippedAt");
        else
            WriteTime("ShippedAt", ordered.AddMilliseconds(Next(ref state, 20 * 86_400_000)));
        _json.WriteStartObject("@metadata");
        _json.WriteString("@collection", Collection);
        _json.WriteEndObject();
        _json.WriteEndObject();
        _json.Flush();
        return _buffer.WrittenMemory;
    }

    private void WriteLines(ref ulong state)
    {
        _json.WriteStartArray("Lines");
        for (int line = 1 + Next(ref state, MaxLines); line > 0; line--)
        {
            int product = Skewed(ref state, Products);
            _json.WriteStartObject();
            _json.WriteNumber("Discount", Next(ref state, 4) == 0 ? Next(ref state, 25) / 100m : 0m);
            _json.WriteNumber("PricePerUnit", (100 + ((product * 7919) % 20_000)) / 100m);
            _json.WriteString("Product", $"products/{product}-A");
            _json.WriteString("ProductName", Name(product * 31, 3));
            _json.WriteNumber("Quantity", 1 + Next(ref state, 120));
            _json.WriteEndObject();
        }

        _json.WriteEndArray();
    }

    private void WriteShipTo(int company)
    {
        int city = company % Cities;
        _json.WriteStartObject("ShipTo");
        _json.WriteString("City", Name(city * 131, 1));
        _json.WriteString("Country", _countries[city % _countries.Length]);
        _json.WriteString("Line1", $"{1 + (company % 180)} {Name(company * 17, 2)}");
        _json.WriteNull("Line2");
        _json.WriteStartObject("Location");
        _json.WriteNumber("Latitude", ((city * 7_907L) % 1_800_000 / 10_000m) - 90);
        _json.WriteNumber("Longitude", ((city * 104_729L) % 3_600_000 / 10_000m) - 180);
        _json.WriteEndObject();
        _json.WriteString("PostalCode", $"{10_000 + ((company * 37) % 89_999)}");
        _json.WriteNull("Region");
        _json.WriteEndObject();
    }

    private void WriteTime(string name, DateTime time) =>
        _json.WriteString(name, time.ToString("yyyy-MM-ddTHH:mm:ss.fffffffZ", System.Globalization.CultureInfo.InvariantCulture));

    /// <summary>A name of so many words that follows from a number.</summary>
    private static string Name(int number, int words)
    {
        ulong state = (ulong)(uint)number + 0x51ED2700;
        var text = new System.Text.StringBuilder();
        for (int word = 0; word < words; word++)
        {
            if (word > 0)
                text.Append(' ');
            int from = text.Length;
            for (int syllable = 2 + Next(ref state, 3); syllable > 0; syllable--)
                text.Append(_syllables[Next(ref state, _syllables.Length)]);
            text[from] = char.ToUpperInvariant(text[from]);
        }

        return text.ToString();
    }

    /// <summary>Small numbers more often: a fifth of the companies has most of the orders.</summary>
    private static int Skewed(ref ulong state, int below)
    {
        double share = Next(ref state, 1 << 24) / (double)(1 << 24);
        return (int)(below * share * share * share);
    }

    /// <summary>SplitMix64.</summary>
    private static int Next(ref ulong state, int below)
    {
        ulong z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return (int)((z ^ (z >> 31)) % (ulong)below);
    }
}
