using System.Runtime.InteropServices;
using System.Text.Json;

namespace Treepie.Lifecycle;

/// <summary>
/// A stretch of a time series of which only the first entries have been aggregated, because a step ended within it. The work on
/// the change that began it continues it; the work on any other change discards it. So a change of an entry that is in it already
/// does no harm: that change has a later etag, and the work on it aggregates the whole stretch again.
/// </summary>
/// <param name="Prefix">Key prefix of the series.</param>
/// <param name="ChangeEtag">Etag of the change that is being worked on; 0 for a document that is due.</param>
/// <param name="SeenEtag">Up to this etag the database was seen by the step that ended here.</param>
/// <param name="Start">Start of the stretch, UTC ticks.</param>
/// <param name="Next">Entries of the stretch before this time are in it, UTC ticks.</param>
/// <param name="Values">The aggregates, as in <see cref="RollUpGroup"/>.</param>
internal sealed record RollUpPart(byte[] Prefix, long ChangeEtag, long SeenEtag, long Start, long Next, double[] Values)
{
    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    public static RollUpPart Read(JsonElement json) => new(
        json[0].GetBytesFromBase64(), json[1].GetInt64(), json[2].GetInt64(), json[3].GetInt64(), json[4].GetInt64(),
        MemoryMarshal.Cast<byte, double>(json[5].GetBytesFromBase64()).ToArray());

    /// <summary>Whether the work on a change of a series continues this part.</summary>
    public bool IsOf(ReadOnlySpan<byte> prefix, long changeEtag) =>
        ChangeEtag == changeEtag && prefix.SequenceEqual(Prefix);

    /// <summary>Writes it as an array, with all bits of the aggregates.</summary>
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartArray();
        json.WriteBase64StringValue(Prefix);
        json.WriteNumberValue(ChangeEtag);
        json.WriteNumberValue(SeenEtag);
        json.WriteNumberValue(Start);
        json.WriteNumberValue(Next);
        json.WriteBase64StringValue(MemoryMarshal.AsBytes<double>(Values));
        json.WriteEndArray();
    }
}
