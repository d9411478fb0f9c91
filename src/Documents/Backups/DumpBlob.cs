using System.Text.Json;

namespace Treepie.Backups;

/// <summary>
/// Raw bytes that follow an element of a dump: the content of an attachment, also of a revision, or the segment of a time
/// series. The element contains their length.
/// </summary>
internal static class DumpBlob
{
    public const string Attachment = "Attachment";

    /// <summary>
    /// Returns the number of raw bytes that follow an element of a section that this program does not read; 0 if none.
    /// </summary>
    public static long LengthAfter(string section, ReadOnlySpan<byte> element, int maxDepth, out bool isAttachment)
    {
        isAttachment = false;
        try
        {
            var reader = new Utf8JsonReader(element, new JsonReaderOptions { MaxDepth = maxDepth });
            return reader.Read() && reader.TokenType == JsonTokenType.StartObject
                ? LengthAfter(section == DumpJson.TimeSeries, ref reader, out isAttachment)
                : 0;
        }
        catch (JsonException)
        {
            return 0; // the element is skipped, so it does not matter that it is not JSON
        }
    }

    private static long LengthAfter(bool isSegment, ref Utf8JsonReader reader, out bool isAttachment)
    {
        long size = 0;
        isAttachment = false;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isMetadata = reader.ValueTextEquals("@metadata"u8),
                isSize = isSegment ? EndsWithSize(reader.ValueSpan) : reader.ValueTextEquals("Size"u8);
            reader.Read();
            if (isMetadata && reader.TokenType == JsonTokenType.StartObject)
                isAttachment = IsAttachment(ref reader);
            else if (isSize && reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long bytes))
                size = Math.Max(0, bytes);
            else
                reader.Skip();
        }

        return isSegment || isAttachment ? size : 0;
    }

    /// <summary>
    /// The size of a segment has several names in dumps: <c>Size</c>, <c>SegmentSize</c>, and these with an <c>@</c>.
    /// </summary>
    private static bool EndsWithSize(ReadOnlySpan<byte> name) =>
        name.Length >= 4 && System.Text.Ascii.EqualsIgnoreCase(name[^4..], "size"u8);

    private static bool IsAttachment(ref Utf8JsonReader reader)
    {
        bool isAttachment = false;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isType = reader.ValueTextEquals("@export-type"u8);
            reader.Read();
            isAttachment |= isType && reader.TokenType == JsonTokenType.String && reader.ValueTextEquals(Attachment);
            reader.Skip();
        }

        return isAttachment;
    }
}
