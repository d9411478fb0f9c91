using Treepie.Writes;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// Documents of a bulk insert on their way to one durable batch: their bytes in one buffer, and where each lies. Used again and again, but
/// not while a write reads it.
/// </summary>
internal sealed class BulkInsertBatch
{
    /// <summary>First size of the buffer; it grows with what comes.</summary>
    private const int FirstBytes = 64 * 1024;

    private readonly List<Entry> entries = [];
    private byte[] buffer = new byte[FirstBytes];

    /// <summary>Bytes held.</summary>
    public int Length { get; private set; }

    /// <summary>Documents held.</summary>
    public int Count => entries.Count;

    public string? LastId => entries.Count == 0 ? null : entries[^1].Id;

    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > buffer.Length - Length)
            Array.Resize(ref buffer, (int)Math.Min(Math.Max(buffer.Length * 2L, (long)Length + bytes.Length), Array.MaxLength));

        bytes.CopyTo(buffer.AsSpan(Length));
        Length += bytes.Length;
    }

    public ReadOnlySpan<byte> From(int start) => buffer.AsSpan(start, Length - start);

    /// <summary>Makes a document of bytes that were appended.</summary>
    public void AddDocument(string id, int start, int length) => entries.Add(new Entry(id, start, length));

    /// <summary>Forgets bytes from <paramref name="start"/> on.</summary>
    public void CutTo(int start) => Length = start;

    public void Clear()
    {
        entries.Clear();
        Length = 0;
    }

    /// <summary>The documents as commands over this buffer, which must not change until they are written.</summary>
    public WriteBatch ToWriteBatch()
    {
        var batch = new WriteBatch();
        foreach (Entry entry in entries)
            batch.Put(entry.Id, buffer.AsMemory(entry.Start, entry.Length));

        return batch;
    }

    private readonly record struct Entry(string Id, int Start, int Length);
}
