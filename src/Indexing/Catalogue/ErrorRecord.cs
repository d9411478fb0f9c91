using System.Buffers.Binary;
using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Why an entry is not indexed. Key: the key of the entry.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       8     time, UTC ticks, little-endian
/// 8       2     n, length of the label, little-endian
/// 10      n     label, UTF-8
/// 10 + n        message, UTF-8, to the end
/// </code>
/// </summary>
internal static class ErrorRecord
{
    /// <summary>Most errors kept; older ones are dropped.</summary>
    public const int MaxErrors = 512;

    /// <summary>Longest label and message in characters; longer ones are truncated.</summary>
    private const int MaxTextLength = 512;

    private const int HeaderBytes = 10;

    public static byte[] Write(EntryError error)
    {
        byte[] label = Encoding.UTF8.GetBytes(Cut(error.Label)), message = Encoding.UTF8.GetBytes(Cut(error.Message));
        byte[] record = new byte[HeaderBytes + label.Length + message.Length];
        BinaryPrimitives.WriteInt64LittleEndian(record, error.Time.Ticks);
        BinaryPrimitives.WriteUInt16LittleEndian(record.AsSpan(8), (ushort)label.Length);
        label.CopyTo(record, HeaderBytes);
        message.CopyTo(record, HeaderBytes + label.Length);
        return record;
    }

    public static EntryError Read(ReadOnlySpan<byte> record)
    {
        long ticks = Ticks(record);
        if (ticks < 0 || ticks > DateTime.MaxValue.Ticks)
            throw RecordReader.Damaged($"has an error at the time {ticks}, which is not a date");
        ReadOnlySpan<byte> rest = record[HeaderBytes..];
        string label = Encoding.UTF8.GetString(
            RecordReader.Take(ref rest, BinaryPrimitives.ReadUInt16LittleEndian(record[sizeof(long)..])));
        return new EntryError(label, Encoding.UTF8.GetString(rest), new DateTime(ticks, DateTimeKind.Utc));
    }

    /// <summary>Drops the oldest errors above the limit.</summary>
    public static void Trim(Tree errors)
    {
        if (errors.Count <= MaxErrors)
            return;

        var all = new List<(long Ticks, byte[] Key)>();
        using (Cursor cursor = errors.OpenCursor())
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
                all.Add((Ticks(cursor.Value), cursor.Key.ToArray()));
        foreach ((_, byte[] key) in all.OrderBy(error => error.Ticks).Take(all.Count - MaxErrors))
            errors.Delete(key);
    }

    private static long Ticks(ReadOnlySpan<byte> record) =>
        BinaryPrimitives.ReadInt64LittleEndian(RecordReader.Take(ref record, HeaderBytes));

    private static string Cut(string text)
    {
        if (text.Length <= MaxTextLength)
            return text;
        int length = char.IsHighSurrogate(text[MaxTextLength - 1]) ? MaxTextLength - 1 : MaxTextLength;
        return text[..length];
    }
}
