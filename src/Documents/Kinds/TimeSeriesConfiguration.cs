using System.Globalization;
using System.Text.Json;
using Treepie.Json;

namespace Treepie.Kinds;

/// <summary>The retention and roll-up policies of time series by collection, and the names of their values.</summary>
public sealed record TimeSeriesConfiguration
{
    internal const string SettingName = "time-series";

    /// <summary>The default of <see cref="PolicyCheckFrequency"/>: ten minutes.</summary>
    public static readonly TimeSpan DefaultFrequency = TimeSpan.FromMinutes(10);

    private const int MaxNames = 10_000;

    private static readonly string[] _raw = ["rawpolicy"];

    /// <summary>The rules by collection, case-insensitive.</summary>
    public IReadOnlyDictionary<string, TimeSeriesRules> Collections { get; init; } = new Dictionary<string, TimeSeriesRules>(
        StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// The interval at which policies are applied, from one second to one day. Null: <see cref="DefaultFrequency"/>.
    /// </summary>
    public TimeSpan? PolicyCheckFrequency { get; init; }

    /// <summary>The names of values by collection and time series (both case-insensitive).</summary>
    public IReadOnlyDictionary<string, IReadOnlyDictionary<string, IReadOnlyList<string>>> NamedValues { get; init; } =
        new Dictionary<string, IReadOnlyDictionary<string, IReadOnlyList<string>>>(StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns a copy with other rules for a collection. Null: without rules for it.</summary>
    public TimeSeriesConfiguration With(string collection, TimeSeriesRules? rules)
    {
        var collections = new Dictionary<string, TimeSeriesRules>(Collections, StringComparer.OrdinalIgnoreCase);
        if (rules is null)
            collections.Remove(collection);
        else
            collections[collection] = rules;
        return this with { Collections = collections };
    }

    /// <summary>Returns a copy with the names of the values of a time series.</summary>
    public TimeSeriesConfiguration With(string collection, string series, IReadOnlyList<string> names)
    {
        var ofAll = new Dictionary<string, IReadOnlyDictionary<string, IReadOnlyList<string>>>(
            NamedValues, StringComparer.OrdinalIgnoreCase);
        var ofCollection = new Dictionary<string, IReadOnlyList<string>>(
            ofAll.TryGetValue(collection, out var known) ? known : new Dictionary<string, IReadOnlyList<string>>(),
            StringComparer.OrdinalIgnoreCase)
        {
            [series] = names,
        };
        ofAll[collection] = ofCollection;
        return this with { NamedValues = ofAll };
    }

    /// <summary>Reads the configuration from JSON in the format of RavenDB's clients.</summary>
    /// <exception cref="InvalidDocumentException">A member is not valid.</exception>
    public static TimeSeriesConfiguration Read(JsonElement json) => Checked(json, ReadMembers);

    /// <summary>Reads a policy from JSON in the format of RavenDB's clients.</summary>
    /// <exception cref="InvalidDocumentException">A member is not valid.</exception>
    public static TimeSeriesPolicy ReadPolicy(JsonElement json) => Checked(json, ReadOnePolicy);

    /// <summary>Reads names of values from JSON in the format of RavenDB's clients.</summary>
    /// <exception cref="InvalidDocumentException">The names are not valid, or too many.</exception>
    public static IReadOnlyList<string> ReadNames(JsonElement json) => Checked(json, ReadNamesOfValues);

    /// <summary>Reports members of the wrong type as invalid documents.</summary>
    private static T Checked<T>(JsonElement json, Func<JsonElement, T> read)
    {
        try
        {
            return read(json);
        }
        catch (Exception error) when (error is InvalidOperationException or FormatException or KeyNotFoundException)
        {
            throw Invalid($"has a member of another kind than it must be ({error.Message})");
        }
    }

    /// <summary>Reads the rules of a collection from JSON in the format of RavenDB's clients.</summary>
    private static TimeSeriesRules ReadRules(string collection, JsonElement json)
    {
        var rules = new TimeSeriesRules
        {
            IsDisabled = json.TryGetProperty("Disabled"u8, out JsonElement disabled) && disabled.ValueKind == JsonValueKind.True,
            RawRetention = Object(json, "RawPolicy") is { } raw ? ReadPeriod(raw, "RetentionTime") : null,
            Policies = json.TryGetProperty("Policies"u8, out JsonElement policies) && policies.ValueKind == JsonValueKind.Array
                ? [.. policies.EnumerateArray().Select(ReadOnePolicy)]
                : [],
        };
        rules = rules with { Policies = TimeSeriesRules.Sort(rules.Policies) }; // clients send them in any order
        rules.Check(collection);
        return rules;
    }

    private static TimeSeriesPolicy ReadOnePolicy(JsonElement json)
    {
        string name = json.TryGetProperty("Name"u8, out JsonElement given) ? given.GetString() ?? "" : "";
        return new TimeSeriesPolicy(name, ReadPeriod(json, "AggregationTime") ?? default, ReadPeriod(json, "RetentionTime"));
    }

    /// <summary>Returns whether the name of a policy refers to the raw entries instead of a roll-up.</summary>
    public static bool IsRaw(string policy) => _raw.Contains(policy, StringComparer.OrdinalIgnoreCase);

    /// <summary>Reads a period from JSON in the format of RavenDB's clients; null for forever.</summary>
    private static TimeSeriesPeriod? ReadPeriod(JsonElement json, string member)
    {
        if (Object(json, member) is not { } given)
            return null;
        long value = given.GetProperty("Value"u8).GetInt64();
        string unit = given.GetProperty("Unit"u8).GetString() ?? "";
        if (value >= int.MaxValue)
            return null;
        return (unit, value) switch
        {
            ("Second", > 0) => TimeSeriesPeriod.Of(TimeSpan.FromSeconds(value)),
            ("Month", > 0 and < 12 * 9_998) => TimeSeriesPeriod.OfMonths((int)value),
            _ => throw Invalid($"has '{member}' {value} {unit}; expected are seconds or months, more than none"),
        };
    }

    /// <summary>Writes the configuration as JSON in the format of RavenDB's clients.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        ArgumentNullException.ThrowIfNull(json);
        json.WriteStartObject();
        json.WriteStartObject("Collections"u8);
        foreach ((string name, TimeSeriesRules rules) in Collections)
        {
            json.WritePropertyName(name);
            Write(json, rules);
        }

        json.WriteEndObject();
        if (PolicyCheckFrequency is { } frequency)
            json.WriteString("PolicyCheckFrequency"u8, frequency.ToString("c", CultureInfo.InvariantCulture));
        else
            json.WriteNull("PolicyCheckFrequency"u8);
        json.WriteStartObject("NamedValues"u8);
        foreach ((string collection, IReadOnlyDictionary<string, IReadOnlyList<string>> ofCollection) in NamedValues)
        {
            json.WriteStartObject(collection);
            foreach ((string series, IReadOnlyList<string> names) in ofCollection)
            {
                json.WriteStartArray(series);
                foreach (string name in names)
                    json.WriteStringValue(name);
                json.WriteEndArray();
            }

            json.WriteEndObject();
        }

        json.WriteEndObject();
        json.WriteEndObject();
    }

    internal TimeSeriesRules? RulesOf(string collection)
    {
        foreach ((string name, TimeSeriesRules rules) in Collections)
            if (string.Equals(name, collection, StringComparison.OrdinalIgnoreCase))
                return rules.IsDisabled ? null : rules;
        return null;
    }

    /// <summary>Returns what is stored, which <see cref="FromJson"/> accepts.</summary>
    /// <exception cref="InvalidDocumentException">The configuration is not valid.</exception>
    internal byte[] ToJson()
    {
        byte[] json = JsonBytes.Of(WriteTo);
        _ = FromJson(json);
        return json;
    }

    internal static TimeSeriesConfiguration FromJson(ReadOnlyMemory<byte> bytes)
    {
        using var json = JsonDocument.Parse(bytes);
        return Read(json.RootElement);
    }

    private static TimeSeriesConfiguration ReadMembers(JsonElement json)
    {
        var configuration = new TimeSeriesConfiguration();
        if (Object(json, "Collections") is { } collections)
            foreach (JsonProperty collection in collections.EnumerateObject())
                if (collection.Value.ValueKind == JsonValueKind.Object)
                    configuration = configuration.With(collection.Name, ReadRules(collection.Name, collection.Value));
        if (Object(json, "NamedValues") is { } named)
            foreach (JsonProperty collection in named.EnumerateObject())
                foreach (JsonProperty series in collection.Value.EnumerateObject())
                    configuration = configuration.With(collection.Name, series.Name, ReadNamesOfValues(series.Value));
        if (configuration.NamedValues.Sum(static one => one.Value.Count) + configuration.Collections.Count > MaxNames)
            throw Invalid($"names more than {MaxNames:N0} collections and series");
        if (json.TryGetProperty("PolicyCheckFrequency"u8, out JsonElement frequency)
            && frequency.ValueKind == JsonValueKind.String)
            configuration = configuration with { PolicyCheckFrequency = ReadFrequency(frequency.GetString() ?? "") };
        return configuration;
    }

    private static string[] ReadNamesOfValues(JsonElement json)
    {
        string[] names = json.ValueKind == JsonValueKind.Array
            ? [.. json.EnumerateArray().Select(static name => name.GetString() ?? "")]
            : [];
        return names.Length is > 0 and <= TimeSeriesPoint.MaxValues && names.All(static name => name.Length is > 0 and <= 128)
            ? names
            : throw Invalid($"names values: expected are 1 to {TimeSeriesPoint.MaxValues} names of 1 to 128 characters");
    }

    private static TimeSpan ReadFrequency(string text) =>
        TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out TimeSpan frequency)
            && frequency >= TimeSpan.FromSeconds(1)
            && frequency <= TimeSpan.FromDays(1)
                ? frequency
                : throw Invalid($"has 'PolicyCheckFrequency' '{text}'; expected is a time span from a second to a day");

    private static JsonElement? Object(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.Object ? value : null;

    private static void Write(Utf8JsonWriter json, TimeSeriesRules rules)
    {
        json.WriteStartObject();
        json.WriteBoolean("Disabled"u8, rules.IsDisabled);
        json.WriteStartArray("Policies"u8);
        foreach (TimeSeriesPolicy policy in rules.Policies)
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, policy.Name);
            Write(json, "AggregationTime", policy.Aggregation);
            Write(json, "RetentionTime", policy.Retention);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteStartObject("RawPolicy"u8);
        json.WriteString("Name"u8, _raw[0]);
        Write(json, "AggregationTime", null);
        Write(json, "RetentionTime", rules.RawRetention);
        json.WriteEndObject();
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, string name, TimeSeriesPeriod? period)
    {
        json.WriteStartObject(name);
        json.WriteNumber("Value"u8, period is not { } length ? int.MaxValue
            : length.Months > 0 ? length.Months : length.Ticks / TimeSpan.TicksPerSecond);
        json.WriteString("Unit"u8, period is not { } unit ? "None" : unit.Months > 0 ? "Month" : "Second");
        json.WriteEndObject();
    }

    private static InvalidDocumentException Invalid(string what) =>
        new($"The configuration of time series {what}. Nothing was changed.");
}
