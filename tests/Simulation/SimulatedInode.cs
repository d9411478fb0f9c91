namespace Treepie.Storage.Simulation;

/// <summary>
/// A file independent of its name: its content as programs see it, its durable content, and the pending changes between them.
/// </summary>
internal sealed class SimulatedInode
{
    private readonly List<PendingWrite> _unsynced = [];
    private readonly List<PendingWrite> _forgotten = [];
    private readonly List<long> _lengths = [];
    private readonly List<SimulatedMap> _maps = [];
    private DiskContent _current;
    private byte[]? _lent;

    public SimulatedInode(DiskContent content)
    {
        Durable = content;
        _current = content.Fork();
    }

    /// <summary>The content that programs read.</summary>
    public DiskContent Current
    {
        get
        {
            if (_lent is not null)
                _current = DiskContent.Of(_lent); // the holder of the array may have changed it
            return _current;
        }
    }

    /// <summary>The durable content: what a power loss leaves if nothing is unsynced.</summary>
    public DiskContent Durable { get; private set; }

    /// <summary>Writes that no sync has made durable, in order. Those marked as clean by a failed sync come first.</summary>
    public IEnumerable<PendingWrite> Pending => _forgotten.Concat(_unsynced);

    public bool HasForgotten => _forgotten.Count > 0;

    public bool HasPending => _unsynced.Count > 0 || _forgotten.Count > 0 || _lengths.Count > 0;

    /// <summary>
    /// Lengths since the last sync, in order. After a power loss, the length may be any of them or the durable one.
    /// </summary>
    public IReadOnlyList<long> Lengths => _lengths;

    public void Write(ReadOnlySpan<byte> source, long offset, int operation)
    {
        long length = Current.Length;
        _lent = null;
        _current.Write(source, offset);
        _unsynced.Add(new PendingWrite(operation, offset, source.ToArray()));
        if (_current.Length != length)
            _lengths.Add(_current.Length);
        foreach (SimulatedMap map in _maps)
            map.OnWritten(source, offset);
    }

    /// <summary>Evicts the pages of all maps of the file.</summary>
    public void EvictMaps() => _maps.ForEach(static map => map.Evict());

    public void SetLength(long length)
    {
        if (Current.Length == length)
            return;

        _lent = null;
        _current.SetLength(length);
        _lengths.Add(length);
    }

    public void Sync()
    {
        DiskContent before = Durable;
        Durable = Current.Fork();
        _forgotten.RemoveAll(write => _unsynced.Exists(later => later.Covers(write)));
        foreach (PendingWrite forgotten in _forgotten)
        {
            var bytes = new byte[forgotten.Bytes.Length];
            before.Read(bytes, forgotten.Offset);
            Durable.Write(bytes, forgotten.Offset);
        }

        foreach (PendingWrite write in _forgotten.Count > 0 ? _unsynced : [])
            Durable.Write(write.Bytes, write.Offset);
        _unsynced.Clear();
        _lengths.Clear();
    }

    /// <summary>Completes a direct write: makes these bytes durable, and nothing else.</summary>
    public void Sync(ReadOnlySpan<byte> source, long offset)
    {
        Durable = Durable.Fork(); // it may belong to an image, which is immutable
        Durable.Write(source, offset);
        Take(_unsynced, offset, source.Length);
        Take(_forgotten, offset, source.Length);
    }

    /// <summary>Handles a failed direct write, which may or may not have reached the disk; see <see
    /// cref="ForgetDirty()"/>.</summary>
    public void ForgetDirty(long offset, int lengthBytes) => _forgotten.AddRange(Take(_unsynced, offset, lengthBytes));

    /// <summary>Handles a failed sync: dirty data counts as clean from now on, and may or may not have reached the
    /// disk.</summary>
    public void ForgetDirty()
    {
        foreach (PendingWrite write in _unsynced)
            _forgotten.AddRange(write.Sectors());
        _unsynced.Clear();
    }

    /// <summary>Removes sectors from pending writes and returns them.</summary>
    private static List<PendingWrite> Take(List<PendingWrite> waiting, long offset, int lengthBytes)
    {
        var range = new PendingWrite(0, offset, new byte[lengthBytes]);
        var taken = new List<PendingWrite>();
        PendingWrite[] before = [.. waiting];
        waiting.Clear();
        foreach (PendingWrite write in before)
        {
            if (!range.Overlaps(write))
            {
                waiting.Add(write);
                continue;
            }

            foreach (PendingWrite sector in write.Sectors())
                (range.Covers(sector) ? taken : waiting).Add(sector);
        }

        return taken;
    }

    /// <summary>Lends the bytes as an array whose changes are changes to the file until the next write.</summary>
    public byte[] Lend() => _lent ??= _current.ToArray();

    /// <summary>Whether the file is mapped.</summary>
    public bool IsMapped => _maps.Count > 0;

    public void Attach(SimulatedMap map) => _maps.Add(map);

    public void Detach(SimulatedMap map) => _maps.Remove(map);
}

/// <summary>A write that is not durable yet.</summary>
/// <param name="Operation">Number of the disk operation that made it.</param>
/// <param name="Offset">Position in the file.</param>
/// <param name="Bytes">The bytes written.</param>
internal sealed record PendingWrite(int Operation, long Offset, byte[] Bytes)
{
    public const int SectorBytes = 512;

    /// <summary>Splits the write into one for each sector it touches.</summary>
    public IEnumerable<PendingWrite> Sectors()
    {
        for (int at = 0; at < Bytes.Length;)
        {
            int length = Math.Min(SectorBytes - (int)((Offset + at) % SectorBytes), Bytes.Length - at);
            yield return new PendingWrite(Operation, Offset + at, Bytes[at..(at + length)]);
            at += length;
        }
    }

    public bool Overlaps(PendingWrite other) =>
        Offset < other.Offset + other.Bytes.Length && other.Offset < Offset + Bytes.Length;

    public bool Covers(PendingWrite other) =>
        Offset <= other.Offset && Offset + Bytes.Length >= other.Offset + other.Bytes.Length;
}
