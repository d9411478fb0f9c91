using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Json;

namespace Treepie.Backups;

/// <summary>
/// Removes flags from the metadata of a document that refer to data that is not imported (<c>@flags: HasAttachments,
/// HasRevisions</c>), so that the document does not claim to have it. Other flags are kept. Buffers are reused: a result is
/// valid until the next call.
/// </summary>
internal sealed class DumpFlags(int maxDepth)
{
    /// <summary>The flags of kinds of data that a dump may contain and that are not imported.</summary>
    private static readonly string[] _leftOut = ["HasAttachments", "HasCounters", "HasTimeSeries", "HasRevisions"];

    private readonly ArrayBufferWriter<byte> _output = new();

    /// <summary>Returns the document without these flags; the input itself if there are none.</summary>
    public ReadOnlyMemory<byte> Without(ReadOnlyMemory<byte> json)
    {
        if (json.Span.IndexOf("\"@flags\""u8) < 0 || !TryFind(json.Span, out Member found))
            return json;
        string[] all = found.Flags.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        string[] kept = [.. all.Where(static flag => !_leftOut.Contains(flag, StringComparer.OrdinalIgnoreCase))];
        if (kept.Length == all.Length)
            return json;

        _output.ResetWrittenCount();
        if (kept.Length > 0)
        {
            _output.Write(json.Span[..found.ValueStart]);
            _output.Write(Encoding.UTF8.GetBytes($"\"{JsonEncodedText.Encode(string.Join(", ", kept))}\""));
            _output.Write(json.Span[found.End..]);
        }
        else
        {
            (int start, int end) = WithComma(json.Span, found);
            _output.Write(json.Span[..start]);
            _output.Write(json.Span[end..]);
        }

        return _output.WrittenMemory;
    }

    /// <summary>
    /// Returns the range of the member including one comma: the one after it, or for the last member the one before it.
    /// </summary>
    private static (int Start, int End) WithComma(ReadOnlySpan<byte> json, Member found)
    {
        int end = found.End;
        while (end < json.Length && json[end] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n')
            end++;
        if (end < json.Length && json[end] == (byte)',')
            return (found.Start, end + 1);

        int start = found.Start;
        while (start > 0 && json[start - 1] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n')
            start--;
        return start > 0 && json[start - 1] == (byte)',' ? (start - 1, found.End) : (found.Start, found.End);
    }

    private bool TryFind(ReadOnlySpan<byte> json, out Member found)
    {
        found = default;
        try
        {
            var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = maxDepth });
            reader.Read();
            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                bool isMetadata = reader.ValueTextEquals(MetadataKeys.Metadata);
                reader.Read();
                if (isMetadata && reader.TokenType == JsonTokenType.StartObject)
                    return TryFindIn(ref reader, out found);
                reader.Skip();
            }
        }
        catch (JsonException)
        {
            // the parser that reads the document reports the error
        }

        return false;
    }

    private static bool TryFindIn(ref Utf8JsonReader reader, out Member found)
    {
        found = default;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isFlags = reader.ValueTextEquals("@flags"u8);
            int start = (int)reader.TokenStartIndex;
            reader.Read();
            if (isFlags && reader.TokenType == JsonTokenType.String)
            {
                found = new Member(start, (int)reader.TokenStartIndex, (int)reader.BytesConsumed, reader.GetString() ?? "");
                return true;
            }

            reader.Skip();
        }

        return false;
    }

    private readonly record struct Member(int Start, int ValueStart, int End, string Flags);
}
