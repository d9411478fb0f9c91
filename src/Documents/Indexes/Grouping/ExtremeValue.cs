using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.States;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// The least or greatest of the numbers and strings of a group; other values do not count. Numbers come before strings and
/// compare exactly, strings by their UTF-8, so the result does not depend on order or partitioning. Not thread-safe.
/// </summary>
internal sealed class ExtremeValue(bool isGreatest)
{
    private byte[]? _json;
    private byte[]? _text; // the UTF-8 of a string; null for a number

    /// <summary>Adds a value in the form of <see cref="CanonicalJson"/>.</summary>
    public void Add(ReadOnlySpan<byte> json)
    {
        bool isText = json[0] == (byte)'"';
        if (!isText && json[0] is not ((byte)'-' or (>= (byte)'0' and <= (byte)'9')))
            return;
        byte[]? text = isText ? Decoded(json) : null;
        if (_json is not null)
        {
            int order = Compare(json, text);
            if (isGreatest ? order <= 0 : order >= 0)
                return;
        }

        (_json, _text) = (json.ToArray(), text);
    }

    /// <summary>Writes the value, or null if there is none.</summary>
    public void WriteTo(IBufferWriter<byte> output) => output.Write(_json ?? "null"u8);

    private int Compare(ReadOnlySpan<byte> json, byte[]? text) => (text, _text) switch
    {
        (null, null) => CanonicalJson.CompareNumbers(json, _json),
        (null, _) => -1,
        (_, null) => 1,
        _ => text.AsSpan().SequenceCompareTo(_text),
    };

    private static byte[] Decoded(ReadOnlySpan<byte> json)
    {
        if (!json.Contains((byte)'\\'))
            return json[1..^1].ToArray();
        var reader = new Utf8JsonReader(json);
        reader.Read();
        return Encoding.UTF8.GetBytes(reader.GetString() ?? "");
    }
}
