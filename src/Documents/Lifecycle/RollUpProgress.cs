using System.Text.Json;
using Treepie.Json;
using Treepie.Kinds;

namespace Treepie.Lifecycle;

/// <summary>
/// The progress of roll-ups: the etag up to which changes of time series have been processed, the latest time of a run, and
/// the times up to which entries have been deleted because of their retention. Stored in the index of times, which is not
/// part of backups: without it, all series are processed again.
/// </summary>
/// <remarks>
/// Only the present configuration and the present clock decide what is deleted. The times kept here say what can no longer be
/// rolled up because it is incomplete.
/// </remarks>
internal sealed class RollUpProgress
{
    /// <summary>
    /// How far a clock may be set back and still count as the one that was slow. Beyond, the time of the latest run was wrong.
    /// </summary>
    private static readonly long _tolerance = 7 * TimeSpan.TicksPerDay;

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

    /// <summary>
    /// Advances the time of the latest run. After a clock that was far ahead was corrected, all series are processed
    /// again, and entries from now on are rolled up.
    /// </summary>
    public void Advance(long nowTicks)
    {
        if (nowTicks >= Ticks - _tolerance)
        {
            Ticks = Math.Max(Ticks, nowTicks);
            return;
        }

        (Ticks, Etag, Place, Part) = (nowTicks, 0, null, null); // what is due was stored for times that are far away
        foreach (string name in _cuts.Keys.ToList())
            _cuts[name] = Math.Min(_cuts[name], nowTicks);
    }

    /// <summary>
    /// Returns the time up to which entries of a collection's series have been deleted: of those that a policy wrote, or of
    /// those written by clients if its name is empty.
    /// </summary>
    public long CutOf(string collection, string policy) => _cuts.GetValueOrDefault(Name(collection, policy));

    /// <summary>Records that entries are deleted up to a time.</summary>
    public void Cut(string collection, string policy, long ticks) =>
        _cuts[Name(collection, policy)] = Math.Max(CutOf(collection, policy), ticks);

    private static string Name(string collection, string policy) => $"{TimeSeriesPolicy.Separator}{policy} {collection}";

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
