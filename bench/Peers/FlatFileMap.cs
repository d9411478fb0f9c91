using System.IO.MemoryMappedFiles;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Peers;

/// <summary>
/// The map that is built first: a file of slots with open addressing, mapped into memory, and a file of records that the slots
/// point to. Full to three quarters, it is written anew twice as large while everyone waits. No transactions: what a crash leaves
/// is what the system happened to write.
/// </summary>
internal sealed unsafe class FlatFileMap : IKeyValueStore
{
    private const long FirstSlots = 1 << 16;
    private const long RecordReserveBytes = 8L << 30; // sparse: real blocks come with the records
    private const int HeadBytes = 4;

    private readonly string _directory;
    private readonly MappedRegion _records;
    private MappedRegion _table;
    private long _slots = FirstSlots;
    private long _count;
    private long _end = 8; // 0 in a slot means that it is free
    private int _generation;

    public FlatFileMap(string directory, StoreSettings settings)
    {
        _ = settings;
        _directory = Directory.CreateDirectory(directory).FullName;
        _records = new MappedRegion(Path.Combine(_directory, "records"), RecordReserveBytes);
        _table = NewTable();
    }

    /// <summary>How it is opened.</summary>
    public static StoreEngine Engine { get; } = new(
        "flat file", IsPresent: true, (path, settings) => new FlatFileMap(path, settings));

    public IKeyValueSession OpenSession() => new Session(this);

    public void Dispose()
    {
        _table.Dispose();
        _records.Dispose();
    }

    private static ulong HashOf(ReadOnlySpan<byte> key)
    {
        ulong hash = 14_695_981_039_346_656_037; // FNV-1a
        foreach (byte value in key)
            hash = (hash ^ value) * 1_099_511_628_211;
        return hash ^ (hash >> 32);
    }

    private MappedRegion NewTable() => new(Path.Combine(_directory, $"slots-{_generation++}"), _slots * sizeof(long));

    /// <summary>The slot of a key, or the free one where it would be.</summary>
    private long* Find(ReadOnlySpan<byte> key)
    {
        for (long slot = (long)(HashOf(key) & (ulong)(_slots - 1)); ; slot = (slot + 1) & (_slots - 1))
        {
            long* entry = (long*)_table.Start + slot;
            if (*entry == 0 || KeyAt(*entry).SequenceEqual(key))
                return entry;
        }
    }

    private ReadOnlySpan<byte> KeyAt(long offset) =>
        new(_records.Start + offset + HeadBytes, *(ushort*)(_records.Start + offset));

    private ReadOnlySpan<byte> ValueAt(long offset) =>
        new(_records.Start + offset + HeadBytes + *(ushort*)(_records.Start + offset), *(ushort*)(_records.Start + offset + 2));

    private bool PutIfAbsent(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        long* entry = Find(key);
        if (*entry != 0)
            return false;

        byte* record = _records.Start + _end;
        *(ushort*)record = (ushort)key.Length;
        *(ushort*)(record + 2) = (ushort)value.Length;
        key.CopyTo(new Span<byte>(record + HeadBytes, key.Length));
        value.CopyTo(new Span<byte>(record + HeadBytes + key.Length, value.Length));
        *entry = _end;
        _end += HeadBytes + key.Length + value.Length;
        if (++_count * 4 > _slots * 3)
            Grow();
        return true;
    }

    private void Grow()
    {
        MappedRegion old = _table;
        long oldSlots = _slots;
        _slots *= 2;
        _table = NewTable();
        for (long slot = 0; slot < oldSlots; slot++)
        {
            long offset = ((long*)old.Start)[slot];
            if (offset != 0)
                *Find(KeyAt(offset)) = offset;
        }

        old.Dispose();
        File.Delete(Path.Combine(_directory, $"slots-{_generation - 2}"));
    }

    private sealed class Session(FlatFileMap owner) : IKeyValueSession
    {
        public void Write(Entries entries) => throw new NotSupportedException("It is measured by putIfAbsent.");

        public int PutIfAbsent(Entries entries)
        {
            int added = 0;
            for (int i = 0; i < entries.Count; i++)
                added += owner.PutIfAbsent(entries.Key(i), entries.Value(i)) ? 1 : 0;
            return added;
        }

        public ulong Read(Entries keys)
        {
            var digest = default(Digest);
            for (int i = 0; i < keys.Count; i++)
            {
                long offset = *owner.Find(keys.Key(i));
                if (offset != 0)
                    digest.Add(keys.Key(i), owner.ValueAt(offset));
            }

            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count) => throw new NotSupportedException("A hash map has no order.");

        public void Dispose()
        {
        }
    }

    /// <summary>A file as memory.</summary>
    private sealed class MappedRegion : IDisposable
    {
        private readonly MemoryMappedFile _file;
        private readonly MemoryMappedViewAccessor _view;

        public MappedRegion(string path, long bytes)
        {
            _file = MemoryMappedFile.CreateFromFile(path, FileMode.Create, null, bytes);
            _view = _file.CreateViewAccessor(0, bytes);
            byte* start = null;
            _view.SafeMemoryMappedViewHandle.AcquirePointer(ref start);
            Start = start;
        }

        public byte* Start { get; }

        public void Dispose()
        {
            _view.SafeMemoryMappedViewHandle.ReleasePointer();
            _view.Dispose();
            _file.Dispose();
        }
    }
}
