using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Changes the records of entries; ids come in ascending order, so every block is read and written once. Used for one write
/// transaction, which <see cref="Flush"/> ends. Invariants: 1. Ids of a block ascend. 2. They are from firstId to lastId. 3. Only
/// a loaded block has changes.
/// </summary>
/// <param name="entries">The tree.</param>
internal sealed class EntryBlockWriter(Tree entries)
{
    private readonly Cursor cursor = entries.OpenCursor();
    private readonly List<Record> records = [];
    private readonly ByteArena bytes = new();
    private readonly byte[] key = new byte[EntryKey.Bytes];
    private readonly byte[] keyRoom = new byte[IndexBatch.MaxKeyBytes];
    private byte[] output = new byte[4_096];
    private long firstId = -1;
    private long lastId = -1;
    private int blockBytes;
    private bool isChanged;

    /// <summary>An entry of the block: key, heads and items are contiguous.</summary>
    private readonly record struct Record(long Id, int Start, int KeyBytes, int HeadBytes, int ItemBytes)
    {
        public int Heads => Start + KeyBytes;

        public int Items => Heads + HeadBytes;
    }

    /// <summary>Adds an entry after all existing ones.</summary>
    public void Append(long id, ReadOnlySpan<byte> entryKey, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items)
    {
        if (firstId < 0)
            Load(long.MaxValue - 1);
        Record record = Add(id, entryKey, heads, items);
        int needed = firstId < 0
            ? 0
            : records.Count > 0
                ? BytesOf(record, records[^1], id - records[^1].Id, records.Count)
                : BytesOf(record, default, id - firstId + 1, 0);
        if (firstId < 0 || blockBytes + needed > EntryBlock.MaxBytes || id - firstId > uint.MaxValue)
        {
            Flush();
            (firstId, lastId) = (id, long.MaxValue);
            record = Add(id, entryKey, heads, items);
            needed = BytesOf(record, default, 1, 0);
        }

        Debug.Assert(records.Count == 0 || records[^1].Id < id, "1: ids of a block ascend");
        Debug.Assert(id >= firstId && id <= lastId, "2: the block covers the id");
        records.Add(record);
        blockBytes += needed;
        isChanged = true;
    }

    /// <summary>Removes an entry, if it exists.</summary>
    public void Remove(long id)
    {
        int index = Find(id);
        if (index < 0)
            return;
        records.RemoveAt(index);
        isChanged = true;
    }

    /// <summary>Adds groups to the record of an entry, if it exists.</summary>
    public void Extend(long id, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items)
    {
        int index = Find(id);
        if (index < 0)
            return;
        Record old = records[index];
        records[index] = Add(
            id, Slice(old.Start, old.KeyBytes), [.. Slice(old.Heads, old.HeadBytes), .. heads],
            [.. Slice(old.Items, old.ItemBytes), .. items]);
        isChanged = true;
    }

    /// <summary>Writes the loaded block, split if it has grown too long.</summary>
    public void Flush()
    {
        Debug.Assert(!isChanged || firstId >= 0, "3: only a loaded block has changes");
        if (isChanged && records.Count == 0)
            Delete(firstId);
        for (int next = 0; isChanged && next < records.Count;)
            next = WriteBlock(next, next == 0 ? firstId : records[next].Id);
        firstId = lastId = -1;
        Forget();
    }

    /// <summary>Writes as many records as fit a block; returns the index of the first that does not.</summary>
    private int WriteBlock(int from, long first)
    {
        int to = from, length = 0;
        for (; to < records.Count; to++)
        {
            length += to == from
                ? BytesOf(records[to], default, records[to].Id - first + 1, 0)
                : BytesOf(records[to], records[to - 1], records[to].Id - records[to - 1].Id, to - from);
            if (to > from && (length > EntryBlock.MaxBytes || records[to].Id - first > uint.MaxValue))
                break;
        }

        if (output.Length < length)
            Array.Resize(ref output, Math.Max(length, output.Length * 2));
        int restarts = (to - from - 1) / EntryBlock.RestartEvery, headsAt = 0;
        length = EntryBlock.HeaderBytes(restarts);
        if (restarts > 0)
            output[0] = (byte)(EntryBlock.RestartsFlag + restarts);
        for (int i = from; i < to; i++)
        {
            Record before = i == from ? default : records[i - 1];
            bool isRestart = IsRestart(i - from);
            if (isRestart)
                EntryBlock.WriteRestart(
                    output, ((i - from) / EntryBlock.RestartEvery) - 1, length, headsAt, (uint)(before.Id - first));
            length += Write(
                records[i], before, records[i].Id - (i == from ? first - 1 : before.Id), isRestart, output, length, ref headsAt);
        }

        EntryKey.Write(key, first);
        entries.Put(key, output.AsSpan(0, length));
        return to;
    }

    private static bool IsRestart(int index) => index > 0 && index % EntryBlock.RestartEvery == 0;

    private ReadOnlySpan<byte> Slice(int start, int length) => bytes.Slice(start, length);

    private Record Add(long id, ReadOnlySpan<byte> entryKey, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items)
    {
        int start = bytes.Add(entryKey);
        bytes.Add(heads);
        bytes.Add(items);
        return new Record(id, start, entryKey.Length, heads.Length, items.Length);
    }

    /// <summary>Upper bound of the bytes of an entry.</summary>
    /// <param name="record">The entry.</param>
    /// <param name="before">The previous entry.</param>
    /// <param name="step">Its id − id of the previous entry.</param>
    /// <param name="index">Its index in the block.</param>
    private int BytesOf(Record record, Record before, long step, int index)
    {
        bool isRestart = IsRestart(index);
        int own = record.KeyBytes - (isRestart ? 0 : Shared(record, before));
        int fixedBytes = 1 + (own >= EntryBlock.MostOwn ? 2 : 0) + (isRestart || record.KeyBytes != before.KeyBytes ? 2 : 0)
            + (step != 1 ? Varint.BytesOf(step) : 0)
            + (isRestart ? EntryBlock.HeaderBytes(1) : 0);
        return fixedBytes + own + (HasHeadsOf(record, before) ? 0 : Varint.BytesOf(record.HeadBytes) + record.HeadBytes)
            + Varint.BytesOf(record.ItemBytes) + record.ItemBytes;
    }

    private int Shared(Record record, Record before) =>
        Slice(record.Start, record.KeyBytes).CommonPrefixLength(Slice(before.Start, before.KeyBytes));

    private bool HasHeadsOf(Record record, Record before) =>
        Slice(record.Heads, record.HeadBytes).SequenceEqual(Slice(before.Heads, before.HeadBytes));

    /// <summary>Writes an entry after another, in the format of <see cref="EntryBlock"/>; returns its length.</summary>
    private int Write(
        Record record, Record before, long step, bool isRestart, byte[] block, int at, ref int headsAt)
    {
        Span<byte> room = block.AsSpan(at);
        int beforeBytes = isRestart ? 0 : before.KeyBytes, shared = isRestart ? 0 : Shared(record, before);
        int own = record.KeyBytes - shared;
        bool hasHeads = HasHeadsOf(record, before), isAsLong = record.KeyBytes == beforeBytes;
        room[0] = (byte)((step == 1 ? 0 : EntryBlock.StepFlag) | (hasHeads ? 0 : EntryBlock.HeadsFlag)
            | (Math.Min(own, EntryBlock.MostOwn) << EntryBlock.OwnShift)
            | (isAsLong ? 0 : EntryBlock.LengthFlag));
        int length = 1;
        if (step != 1)
            length += Varint.WriteLong(room[length..], step);
        if (own >= EntryBlock.MostOwn)
            length += Varint.Write(room[length..], own);
        if (!isAsLong)
            length += Varint.Write(room[length..], shared);
        length += Copy(Slice(record.Start + shared, own), room[length..]);
        if (!hasHeads)
        {
            headsAt = at + length;
            length += Varint.Write(room[length..], record.HeadBytes);
            length += Copy(Slice(record.Heads, record.HeadBytes), room[length..]);
        }

        length += Varint.Write(room[length..], record.ItemBytes);
        return length + Copy(Slice(record.Items, record.ItemBytes), room[length..]);
    }

    private static int Copy(ReadOnlySpan<byte> from, Span<byte> to)
    {
        from.CopyTo(to);
        return from.Length;
    }

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

    /// <summary>Loads the block of an entry; returns its index there, or -1.</summary>
    private int Find(long id)
    {
        if (firstId < 0 || id > lastId)
        {
            Flush();
            Load(id);
        }

        for (int i = 0; firstId >= 0 && i < records.Count; i++)
            if (records[i].Id == id)
                return i;
        return -1;
    }

    /// <summary>Reads the block that covers an id.</summary>
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
        var block = new EntryBlock(cursor.Value, firstId, keyRoom);
        blockBytes = cursor.Value.Length;
        while (block.MoveNext())
            records.Add(Add(block.Id, block.Key, block.Heads, block.Items));
        lastId = cursor.MoveNext() ? EntryKey.Read(cursor.Key) - 1 : long.MaxValue - 1;
    }
}
