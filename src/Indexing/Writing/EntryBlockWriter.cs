using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Changes the records of entries; ids come in ascending order, so every block is read and written once. Lives for one write transaction; <see cref="Flush"/> ends it.
/// </summary>
/// <param name="entries">The tree.</param>
internal sealed class EntryBlockWriter(Tree entries)
{
    private readonly Cursor cursor = entries.OpenCursor();
    private readonly List<Record> records = [];
    private readonly ByteArena bytes = new();
    private readonly byte[] key = new byte[EntryKey.Bytes];
    private byte[] output = new byte[4_096];
    private long firstId = -1;
    private long lastId = -1;
    private int blockBytes;
    private bool isChanged;

    private readonly record struct Record(long Id, int Start, int Length);

    /// <summary>Adds an entry behind all there are.</summary>
    public void Append(long id, ReadOnlySpan<byte> record)
    {
        if (firstId < 0)
            Load(long.MaxValue - 1);
        int needed = firstId < 0 ? 0 : BytesOf(id - (records.Count > 0 ? records[^1].Id : firstId), record.Length);
        if (firstId < 0 || blockBytes + needed > EntryBlock.MaxBytes)
        {
            Flush();
            (firstId, lastId) = (id, long.MaxValue);
            needed = BytesOf(0, record.Length);
        }

        records.Add(new Record(id, bytes.Add(record), record.Length));
        blockBytes += needed;
        isChanged = true;
    }

    /// <summary>Takes an entry out that is there.</summary>
    public void Remove(long id)
    {
        int index = Find(id);
        if (index < 0)
            return;
        records.RemoveAt(index);
        isChanged = true;
    }

    /// <summary>Adds groups to the record of an entry that is there.</summary>
    public void Extend(long id, ReadOnlySpan<byte> groups)
    {
        int index = Find(id);
        if (index < 0)
            return;
        Record old = records[index];
        int start = bytes.Length;
        bytes.Add(bytes.Slice(old.Start, old.Length).ToArray());
        bytes.Add(groups);
        records[index] = new Record(id, start, bytes.Length - start);
        isChanged = true;
    }

    /// <summary>Writes the last block. One that has grown too long becomes several.</summary>
    public void Flush()
    {
        if (isChanged && records.Count == 0)
            Delete(firstId);
        for (int next = 0; isChanged && next < records.Count;)
        {
            long first = next == 0 ? firstId : records[next].Id, last = first;
            int length = 0;
            int from = next;
            for (; next < records.Count; next++)
            {
                Record record = records[next];
                int needed = BytesOf(record.Id - last, record.Length);
                if (next > from && length + needed > EntryBlock.MaxBytes)
                    break;
                if (output.Length < length + needed)
                    Array.Resize(ref output, Math.Max(length + needed, output.Length * 2));
                length += Varint.WriteLong(output.AsSpan(length), record.Id - last);
                length += Varint.Write(output.AsSpan(length), record.Length);
                bytes.Slice(record.Start, record.Length).CopyTo(output.AsSpan(length));
                length += record.Length;
                last = record.Id;
            }

            EntryKey.Write(key, first);
            entries.Put(key, output.AsSpan(0, length));
        }

        firstId = lastId = -1;
        Forget();
    }

    private static int BytesOf(long step, int recordBytes) => Varint.BytesOf(step) + Varint.BytesOf(recordBytes) + recordBytes;

    private void Delete(long first)
    {
        EntryKey.Write(key, first);
        entries.Delete(key);
    }

    private void Forget()
    {
        records.Clear();
        bytes.Clear(1 << 20);
        blockBytes = 0;
        isChanged = false;
    }

    /// <summary>Goes to the block of an entry; its place there, or -1.</summary>
    private int Find(long id)
    {
        if (firstId < 0 || id > lastId)
        {
            Flush();
            Load(id);
        }

        return firstId < 0 ? -1 : records.FindIndex(record => record.Id == id);
    }

    /// <summary>Reads the block that an id belongs to.</summary>
    private void Load(long id)
    {
        Forget();
        EntryKey.Write(key, id + 1);
        if (!cursor.SeekBefore(key))
        {
            firstId = lastId = -1;
            return;
        }

        firstId = EntryKey.Read(cursor.Key);
        var block = new EntryBlock(cursor.Value, firstId);
        blockBytes = cursor.Value.Length;
        while (block.MoveNext())
            records.Add(new Record(block.Id, bytes.Add(block.Record), block.Record.Length));
        lastId = cursor.MoveNext() ? EntryKey.Read(cursor.Key) - 1 : long.MaxValue - 1;
    }
}
