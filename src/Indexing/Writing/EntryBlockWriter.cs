using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Changes the records of entries. Ids come in ascending order, so every block is read and written once. Used for one write
/// transaction, at the end of which <see cref="Flush"/> must be called. Invariants: 1. Ids of a block ascend. 2. They are
/// from firstId to lastId. 3. Only a loaded block has changes.
/// </summary>
/// <param name="entries">The tree.</param>
internal sealed class EntryBlockWriter(Tree entries)
{
    private readonly Cursor _cursor = entries.OpenCursor();
    private readonly List<Record> _records = [];
    private readonly ByteArena _bytes = new();
    private readonly byte[] _key = new byte[EntryKey.Bytes];
    private readonly byte[] _keyRoom = new byte[IndexBatch.MaxKeyBytes];
    private byte[] _output = new byte[4_096];
    private long _firstId = -1;
    private long _lastId = -1;
    private int _blockBytes;
    private bool _isChanged;

    /// <summary>An entry of the block: key, heads and items are contiguous.</summary>
    private readonly record struct Record(long Id, int Start, int KeyBytes, int HeadBytes, int ItemBytes)
    {
        public int Heads => Start + KeyBytes;

        public int Items => Heads + HeadBytes;
    }

    /// <summary>Adds an entry after all existing ones.</summary>
    public void Append(long id, ReadOnlySpan<byte> entryKey, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items)
    {
        if (_firstId < 0)
            Load(long.MaxValue - 1);
        Record record = Add(id, entryKey, heads, items);
        int needed = _firstId < 0
            ? 0
            : _records.Count > 0
                ? BytesOf(record, _records[^1], id - _records[^1].Id, _records.Count)
                : BytesOf(record, default, id - _firstId + 1, 0);
        if (_firstId < 0 || _blockBytes + needed > EntryBlock.MaxBytes || id - _firstId > uint.MaxValue)
        {
            Flush();
            (_firstId, _lastId) = (id, long.MaxValue);
            record = Add(id, entryKey, heads, items);
            needed = BytesOf(record, default, 1, 0);
        }

        Debug.Assert(_records.Count == 0 || _records[^1].Id < id, "1: ids of a block ascend");
        Debug.Assert(id >= _firstId && id <= _lastId, "2: the block covers the id");
        _records.Add(record);
        _blockBytes += needed;
        _isChanged = true;
    }

    /// <summary>Removes an entry, if it exists.</summary>
    public void Remove(long id)
    {
        int index = Find(id);
        if (index < 0)
            return;
        _records.RemoveAt(index);
        _isChanged = true;
    }

    /// <summary>Adds groups to the record of an entry, if it exists.</summary>
    public void Extend(long id, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items)
    {
        int index = Find(id);
        if (index < 0)
            return;
        Record old = _records[index];
        _records[index] = Add(
            id, Slice(old.Start, old.KeyBytes), [.. Slice(old.Heads, old.HeadBytes), .. heads],
            [.. Slice(old.Items, old.ItemBytes), .. items]);
        _isChanged = true;
    }

    /// <summary>Writes the loaded block, split if it has grown too long, and unloads it.</summary>
    public void Flush()
    {
        Debug.Assert(!_isChanged || _firstId >= 0, "3: only a loaded block has changes");
        if (_isChanged && _records.Count == 0)
            Delete(_firstId);
        for (int next = 0; _isChanged && next < _records.Count;)
            next = WriteBlock(next, next == 0 ? _firstId : _records[next].Id);
        _firstId = _lastId = -1;
        Forget();
    }

    /// <summary>Writes as many records as fit into a block; returns the index of the first record after them.</summary>
    private int WriteBlock(int from, long first)
    {
        Debug.Assert((uint)from < (uint)_records.Count, "a block has records");
        int to = from, length = 0;
        for (; to < _records.Count; to++)
        {
            length += to == from
                ? BytesOf(_records[to], default, _records[to].Id - first + 1, 0)
                : BytesOf(_records[to], _records[to - 1], _records[to].Id - _records[to - 1].Id, to - from);
            if (to > from && (length > EntryBlock.MaxBytes || _records[to].Id - first > uint.MaxValue))
                break;
        }

        Debug.Assert(to > from, "a block has records");
        if (_output.Length < length)
            Array.Resize(ref _output, Math.Max(length, _output.Length * 2));
        int restarts = (to - from - 1) / EntryBlock.RestartEvery, headsAt = 0;
        length = EntryBlock.HeaderBytes(restarts);
        if (restarts > 0)
            _output[0] = (byte)(EntryBlock.RestartsFlag + restarts);
        for (int i = from; i < to; i++)
        {
            Record before = i == from ? default : _records[i - 1];
            bool isRestart = IsRestart(i - from);
            if (isRestart)
                EntryBlock.WriteRestart(
                    _output, ((i - from) / EntryBlock.RestartEvery) - 1, length, headsAt, (uint)(before.Id - first));
            length += Write(
                _records[i], before, _records[i].Id - (i == from ? first - 1 : before.Id), isRestart, _output, length,
                ref headsAt);
        }

        EntryKey.Write(_key, first);
        entries.Put(_key, _output.AsSpan(0, length));
        return to;
    }

    private static bool IsRestart(int index) => index > 0 && index % EntryBlock.RestartEvery == 0;

    private ReadOnlySpan<byte> Slice(int start, int length) => _bytes.Slice(start, length);

    private Record Add(long id, ReadOnlySpan<byte> entryKey, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items)
    {
        int start = _bytes.Add(entryKey);
        _bytes.Add(heads);
        _bytes.Add(items);
        return new Record(id, start, entryKey.Length, heads.Length, items.Length);
    }

    /// <summary>Upper bound of the length of an entry in bytes.</summary>
    /// <param name="record">The entry.</param>
    /// <param name="before">The previous entry.</param>
    /// <param name="step">The id of the entry minus that of the previous one.</param>
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
        EntryKey.Write(_key, first);
        entries.Delete(_key);
    }

    private void Forget()
    {
        _records.Clear();
        _bytes.Clear(1 << 20);
        _blockBytes = 0;
        _isChanged = false;
    }

    /// <summary>Loads the block of an entry; returns the entry's index there, or -1 if it does not exist.</summary>
    private int Find(long id)
    {
        if (_firstId < 0 || id > _lastId)
        {
            Flush();
            Load(id);
        }

        for (int i = 0; _firstId >= 0 && i < _records.Count; i++)
            if (_records[i].Id == id)
                return i;
        return -1;
    }

    /// <summary>Reads the block that covers an id.</summary>
    private void Load(long id)
    {
        Debug.Assert(!_isChanged, "3: changes are written before another block is loaded");
        Forget();
        EntryKey.Write(_key, id + 1);
        if (!_cursor.SeekBefore(_key))
        {
            _firstId = _lastId = -1;
            return;
        }

        _firstId = EntryKey.Read(_cursor.Key);
        var block = new EntryBlock(_cursor.Value, _firstId, _keyRoom);
        _blockBytes = _cursor.Value.Length;
        while (block.MoveNext())
            _records.Add(Add(block.Id, block.Key, block.Heads, block.Items));
        _lastId = _cursor.MoveNext() ? EntryKey.Read(_cursor.Key) - 1 : long.MaxValue - 1;
    }
}
