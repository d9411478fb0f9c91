using System.Collections.Immutable;
using System.Globalization;
using System.Text;

namespace Treepie.Torture.Servers;

/// <summary>A document with its attachments, counters and time series, as in the model.</summary>
internal sealed record Thing(int Number, string Group)
{
    /// <summary>Names of attachments, and the hash of each content.</summary>
    public ImmutableSortedDictionary<string, string> Attachments { get; init; } = Empty<string>();

    /// <summary>Counters and their values.</summary>
    public ImmutableSortedDictionary<string, long> Counters { get; init; } = Empty<long>();

    /// <summary>The time series, from milliseconds since 1970 to value.</summary>
    public ImmutableSortedDictionary<long, double> Series { get; init; } = ImmutableSortedDictionary<long, double>.Empty;

    /// <summary>Writes everything as one line.</summary>
    public void WriteTo(StringBuilder text, string id)
    {
        text.Append(CultureInfo.InvariantCulture, $"{id} {Number} {Group}");
        foreach ((string name, string hash) in Attachments)
            text.Append(CultureInfo.InvariantCulture, $" a:{name}={hash}");
        foreach ((string name, long value) in Counters)
            text.Append(CultureInfo.InvariantCulture, $" c:{name}={value}");
        foreach ((long time, double value) in Series)
            text.Append(CultureInfo.InvariantCulture, $" t:{time}={value}");
        text.Append('\n');
    }

    private static ImmutableSortedDictionary<string, T> Empty<T>() =>
        ImmutableSortedDictionary<string, T>.Empty.WithComparers(StringComparer.Ordinal);
}
