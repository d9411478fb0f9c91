using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// HiLo ranges of ids, stored in the document <c>Raven/Hilo/{tag}</c> with the field <c>Max</c>, where clients expect them. A
/// request changes <c>Max</c> and leaves all other fields and the metadata unchanged.
/// </summary>
internal static class HiLoWriter
{
    private const string IdPrefix = "Raven/Hilo/";
    private const string CollectionOfRanges = "@hilo";
    private const long SmallestRange = 32;
    private const long LargestRange = 1 << 20;
    private static readonly TimeSpan _askedRightAway = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Assigns the next range: twice as large as the previous one if that lasted at most 30 seconds, otherwise half as large.
    /// </summary>
    public static HiLoRange Next(DocumentWriter writer, HiLoRequest request, int maxIdBytes, DateTime now)
    {
        WriteCommand document = Read(writer, request.Tag, maxIdBytes, out long max);
        long low = checked(Math.Max(max, request.LastMax) + 1);
        long size = SizeOf(request, now);
        long high = checked(low + size - 1);
        writer.Put(document with { Body = WithMax(document.Body.Span, high) });
        writer.Save();
        return new HiLoRange(request.Tag + request.Separator, low, high, size, ChangeVectors.NodeTag, now);
    }

    /// <summary>Takes back the rest of a range, if it was the last one assigned; returns whether it was.</summary>
    public static bool Return(DocumentWriter writer, string tag, long end, long last, int maxIdBytes)
    {
        WriteCommand document = Read(writer, tag, maxIdBytes, out long max);
        if (max != end || last < 0 || last >= end)
            return false;

        writer.Put(document with { Body = WithMax(document.Body.Span, last) });
        writer.Save();
        return true;
    }

    private static long SizeOf(HiLoRequest request, DateTime now)
    {
        if (request.LastBatchSize <= 0)
            return SmallestRange;
        long last = Math.Min(request.LastBatchSize, LargestRange);
        return Math.Clamp(now - request.LastRangeAt <= _askedRightAway ? last * 2 : last / 2, SmallestRange, LargestRange);
    }

    private static WriteCommand Read(DocumentWriter writer, string tag, int maxIdBytes, out long max)
    {
        string id = IdPrefix + tag;
        byte[] utf8 = DocumentId.Encode(id, maxIdBytes);
        byte[] folded = CollectionName.Fold(utf8);
        max = 0;
        byte[] body = "{}"u8.ToArray();
        byte[] metadata = [];
        string collection = CollectionOfRanges;
        if (tag.Length == 0)
            throw new InvalidDocumentException(
                "The tag of a range of ids is empty. Give the collection's tag, for instance 'users'.");
        if (writer.TryGet(folded, out DocumentRecord record))
        {
            body = writer.BodyOf(record).ToArray();
            metadata = record.Metadata.ToArray();
            collection = writer.CollectionOf(record);
            max = FindMax(body, out _, out _);
        }

        return new WriteCommand(
            WriteKind.Put, id, IdKind.Given, utf8, folded, metadata, body, new CollectionName(collection), null);
    }

    private static byte[] WithMax(ReadOnlySpan<byte> body, long max)
    {
        FindMax(body, out int start, out int length);
        string value = max.ToString(System.Globalization.CultureInfo.InvariantCulture);
        var output = new ArrayBufferWriter<byte>(body.Length + 32);
        if (start > 0)
        {
            output.Write(body[..start]);
            output.Write(Encoding.ASCII.GetBytes(value));
            output.Write(body[(start + length)..]);
        }
        else
        {
            output.Write(Encoding.ASCII.GetBytes($"{{\"Max\":{value}{(body.Length > 2 ? "," : "")}"));
            output.Write(body[1..]);
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>
    /// Returns the number in the field <c>Max</c> and the position of its text; 0 and an empty position at 0 if there is none.
    /// </summary>
    private static long FindMax(ReadOnlySpan<byte> body, out int start, out int length)
    {
        start = 0;
        length = 0;
        var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = int.MaxValue });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isMax = reader.ValueTextEquals("Max"u8);
            reader.Read();
            if (isMax)
            {
                start = (int)reader.TokenStartIndex;
                reader.Skip();
                length = (int)reader.BytesConsumed - start;
                return reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long value) ? value : 0;
            }

            reader.Skip();
        }

        return 0;
    }
}
