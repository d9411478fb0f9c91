using System.Text.Json;
using Treepie.Json;

namespace Treepie.Lifecycle;

/// <summary>
/// How far roll-ups have come: up to which etag changes of time series were looked at, the latest time at which a run was, and up
/// to where entries were deleted because of their age. Kept in the index of times, which no backup has: without it all series are
/// looked at again.
/// </summary>
internal sealed class RollUpProgress
{
    private readonly Dictionary<string, long> _cuts = new(StringComparer.OrdinalIgnoreCase);

    public long Etag { get; set; }

    /// <summary>
    /// The key of the document whose time had come and whose series are being rolled up, in pieces, and a segment of the last one
    /// that is done. Null between documents.
    /// </summary>
    public (byte[] DueKey, byte[] Segment)? Place { get; set; }

    /// <summary>The stretch in which the last step ended; null if it ended between two.</summary>
    public RollUpPart? Part { get; set; }

    /// <summary>The latest time of a run (UTC ticks): a clock that is set back brings nothing back.</summary>
    public long Ticks { get; private set; }

    /// <summary>Times go on from here.</summary>
    public long Advance(long nowTicks) => Ticks = Math.Max(Ticks, nowTicks);

    /// <summary>Up to where entries of a level were deleted.</summary>
    public long CutOf(string collection, int level) => _cuts.GetValueOrDefault($"{level} {collection}");

    /// <summary>
    /// Entries of a level are deleted up to there; gives up to where they were before or are now, whichever is later.
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
