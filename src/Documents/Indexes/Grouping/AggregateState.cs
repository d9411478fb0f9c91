using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.States;
using Treepie.Json;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// An aggregate that is being computed. Every value gives one, so that a document counts in its groups whatever else is asked of
/// them: a long text counts as its beginning, and a sum of a number that cannot be summed up is null. Not thread-safe.
/// </summary>
internal sealed class AggregateState(GroupAggregateKind kind)
{
    /// <summary>The maximum length of a least or greatest value in bytes, as it is stored with each result.</summary>
    public const int MaxExtremeBytes = 32 * 1024;

    private readonly ExactSum? _sum = kind == GroupAggregateKind.Sum ? new ExactSum() : null;
    private readonly ExtremeValue? _extreme =
        kind == GroupAggregateKind.Sum ? null : new ExtremeValue(kind == GroupAggregateKind.Max);
    private bool _isBeyond; // a number of the sum cannot be summed up

    /// <summary>Adds a value of a document.</summary>
    public void AddValue(JsonElement value)
    {
        if (_extreme is not null)
        {
            AddExtreme(_extreme, value);
            return;
        }

        if (value.ValueKind != JsonValueKind.Number)
            return;
        try
        {
            _sum!.Add(JsonMarshal.GetRawUtf8Value(value)); // either is there
        }
        catch (FormatException)
        {
            _isBeyond = true;
        }
    }

    /// <summary>Adds a partial result, in the form that <see cref="WriteTo"/> writes.</summary>
    public void AddPartial(ReadOnlySpan<byte> json)
    {
        if (_sum is not null && json[0] == (byte)'n')
            _isBeyond = true;
        else
            _sum?.AddSum(json);
        _extreme?.Add(json);
    }

    /// <summary>Writes the aggregate as JSON.</summary>
    public void WriteTo(IBufferWriter<byte> output)
    {
        if (_isBeyond)
            output.Write("null"u8);
        else
            _sum?.WriteTo(output);
        _extreme?.WriteTo(output);
    }

    private static void AddExtreme(ExtremeValue extreme, JsonElement value)
    {
        var json = new ArrayBufferWriter<byte>();
        if (value.ValueKind == JsonValueKind.String)
            JsonStrings.Write(json, Beginning(Encoding.UTF8.GetBytes(value.GetString()!))); // it is a string
        else if (value.ValueKind == JsonValueKind.Number && JsonMarshal.GetRawUtf8Value(value).Length <= MaxExtremeBytes)
            CanonicalJson.Write(value, json);
        else
            return;
        extreme.Add(json.WrittenSpan);
    }

    /// <summary>
    /// Returns the beginning of a text, whole characters. Of two texts the beginning of the lesser is never the greater one, so
    /// the least of the beginnings is the beginning of the least.
    /// </summary>
    private static ReadOnlySpan<byte> Beginning(byte[] utf8)
    {
        if (utf8.Length <= MaxExtremeBytes)
            return utf8;
        int length = MaxExtremeBytes;
        while ((utf8[length] & 0xC0) == 0x80)
            length--;
        return utf8.AsSpan(0, length);
    }
}
