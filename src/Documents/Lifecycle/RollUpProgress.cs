using System.Text.Json;
using Treepie.Json;

namespace Treepie.Lifecycle;

/// <summary>
/// The progress of roll-ups: the etag up to which changes of time series have been processed, the latest time of a run, and
/// the times up to which entries have been deleted because of their retention. Stored in the index of times, which is not
/// part of backups: without it, all series are processed again.
/// </summary>
internal sealed class RollUpProgress
{
    private readonly Dictionary<string, long> _cuts = new(StringComparer.OrdinalIgnoreCase);

    public long Etag { get; set; }

    /// <summary>
    /// The key of the due document whose series are being rolled up in pieces, and a segment of the last series that is
    /// done. Null between documents.
    /// </summary>
    public (byte[] DueKey, byte[] Segment)? Place { get; set; }

    /// <summary>The stretch in which the last step ended; null if it ended between two.</summary>
    public RollUpPart? Part { get; set; }

    /// <summary>The latest time of a run (UTC ticks): a clock that is set back brings nothing back.</summary>
    public long Ticks { get; private set; }

    /// <summary>Advances the time of the latest run; returns it.</summary>
    public long Advance(long nowTicks) => Ticks = Math.Max(Ticks, nowTicks);

    /// <summary>Returns the time up to which entries of a level have been deleted.</summary>
    public long CutOf(string collection, int level) => _cuts.GetValueOrDefault($"{level} {collection}");

    /// <summary>
    /// Records that entries of a level are deleted up to a time; returns that time, or the previous one if it is later.
    /// </summary>
    public long Cut(string collection, int level, long ticks) =>
        _cuts[$"{level} {collection}"] = Math.Max(CutOf(collection, level), ticks);

    public static RollUpProgress Read(ReadOnlySpan<byte> bytes)
    {
        var progress = new RollUpProgress();
        if (bytes.IsEmpty)
            return progress;
        using var json = JsonDocument.Parse(bytes.ToArray());
        progress.Etag = json.RootElement.GetProperty("Etag"u8).GetInt64();
        progress.Ticks = json.RootElement.GetProperty("Ticks"u8).GetInt64();
        if (json.RootElement.TryGetProperty("Place"u8, out JsonElement place))
            progress.Place = (place[0].GetBytesFromBase64(), place[1].GetBytesFromBase64());
        if (json.RootElement.TryGetProperty("Part"u8, out JsonElement part))
            progress.Part = RollUpPart.Read(part);
        foreach (JsonProperty cut in json.RootElement.GetProperty("Cuts"u8).EnumerateObject())
            progress._cuts[cut.Name] = cut.Value.GetInt64();
        return progress;
    }

    public byte[] ToJson() => JsonBytes.Of(json =>
    {
        json.WriteStartObject();
        json.WriteNumber("Etag"u8, Etag);
        json.WriteNumber("Ticks"u8, Ticks);
        json.WriteStartObject("Cuts"u8);
        foreach ((string name, long ticks) in _cuts)
            json.WriteNumber(name, ticks);
        json.WriteEndObject();
        if (Place is { } place)
        {
            json.WriteStartArray("Place"u8);
            json.WriteBase64StringValue(place.DueKey);
            json.WriteBase64StringValue(place.Segment);
            json.WriteEndArray();
        }

        if (Part is { } part)
        {
            json.WritePropertyName("Part"u8);
            part.Write(json);
        }

        json.WriteEndObject();
    });
}
