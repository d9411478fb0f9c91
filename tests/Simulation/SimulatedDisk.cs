using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>
/// A disk in memory that can lose power. What was written and not synced is, after <see cref="Crash"/>, there, gone, torn in the
/// middle of a sector or garbage, each 512-byte sector for itself and in any order; names of files are durable only after their
/// directory was synced; a file's length may fall back to what it was at its last sync.
/// </summary>
internal sealed class SimulatedDisk(Random random) : IFileSystem
{
    private const int SectorBytes = 512;

    private readonly List<NameChange> _nameChanges = [];
    private Dictionary<string, Inode> _names = new(StringComparer.Ordinal);
    private Dictionary<string, Inode> _durableNames = new(StringComparer.Ordinal);
    private bool _isLocked;

    public string Path => "/simulated";

    /// <summary>Changes made so far: writes, syncs, growth, names.</summary>
    public int Operations { get; private set; }

    /// <summary>The change at which the power fails, or -1.</summary>
    public int CrashAt { get; set; } = -1;

    /// <summary>The change that fails with an error, once, or -1.</summary>
    public int FailAt { get; set; } = -1;

    /// <summary>Bytes all files may have together.</summary>
    public long CapacityBytes { get; set; } = long.MaxValue;

    public bool HasCrashed { get; private set; }

    /// <summary>Whether a sector may come back as garbage: a torn write on disks that promise nothing.</summary>
    public bool LeavesGarbage { get; set; } = true;

    public void CreateDirectory()
    {
    }

    public IReadOnlyList<string> List() => [.. _names.Keys];

    public IFile Open(string name, bool create, bool writable)
    {
        if (!create)
            return new SimulatedFile(this, name, _names.TryGetValue(name, out Inode? found) ? found : throw new FileNotFoundException(name));

        Step();
        var inode = new Inode();
        if (!_names.TryAdd(name, inode))
            throw new IOException($"'{name}' exists.");
        _nameChanges.Add(new NameChange(name, inode));
        return new SimulatedFile(this, name, inode);
    }

    public void Delete(string name)
    {
        Step();
        _names.Remove(name);
        _nameChanges.Add(new NameChange(name, null));
    }

    public void Rename(string from, string to)
    {
        Step();
        Inode inode = _names[from];
        _names.Remove(from);
        _names[to] = inode;
        _nameChanges.Add(new NameChange(to, inode, From: from));
    }

    public void SyncDirectory()
    {
        Step();
        _durableNames = new(_names, StringComparer.Ordinal);
        _nameChanges.Clear();
    }

    public IDisposable Lock(string name, bool shared)
    {
        if (_isLocked)
            throw new EnvironmentLockedException("The simulated directory is open.");
        _isLocked = true;
        return new Release(this);
    }

    public IFileMap Map(IFile file, long reserveBytes) => new CopiedFile(file, reserveBytes);

    /// <summary>Power is lost: what the disk holds now is drawn, and it can be opened again.</summary>
    public void Crash()
    {
        foreach (NameChange change in _nameChanges.Take(random.Next(_nameChanges.Count + 1)))
            change.Apply(_durableNames);
        _nameChanges.Clear();
        _names = new(_durableNames, StringComparer.Ordinal);
        foreach (Inode inode in _names.Values.Distinct())
            inode.LosePower(random, LeavesGarbage);
        HasCrashed = false;
        CrashAt = -1;
        FailAt = -1;
        Operations = 0;
        _isLocked = false;
    }

    /// <summary>The bytes of a file, to look at or to damage.</summary>
    public byte[] Bytes(string name) => _names[name].Current;

    /// <summary>Replaces a file.</summary>
    public void Replace(string name, byte[] bytes)
    {
        var inode = new Inode { Current = bytes, Durable = [.. bytes] };
        _names[name] = inode;
        _durableNames[name] = inode;
    }

    /// <summary>A disk of the same content, everything durable.</summary>
    public SimulatedDisk Copy(Random draw)
    {
        var copy = new SimulatedDisk(draw);
        foreach ((string name, Inode inode) in _names)
            copy.Replace(name, [.. inode.Current]);
        return copy;
    }

    private void Step()
    {
        if (HasCrashed)
            throw new IOException("The power is off.");
        if (Operations == CrashAt)
        {
            HasCrashed = true;
            throw new IOException("The power went off.");
        }

        if (Operations++ == FailAt)
            throw new IOException("The disk failed once.");
    }

    private void CheckRoom(long moreBytes)
    {
        if (moreBytes > 0 && _names.Values.Distinct().Sum(inode => (long)inode.Current.Length) + moreBytes > CapacityBytes)
            throw new DiskFullException("The simulated disk is full.");
    }

    private sealed class Release(SimulatedDisk disk) : IDisposable
    {
        public void Dispose() => disk._isLocked = false;
    }

    private sealed record NameChange(string Name, Inode? Inode, string? From = null)
    {
        public void Apply(Dictionary<string, Inode> names)
        {
            if (From is not null)
                names.Remove(From);
            if (Inode is null)
                names.Remove(Name);
            else
                names[Name] = Inode;
        }
    }

    private sealed class Inode
    {
        private readonly List<(long Offset, byte[] Bytes)> _unsynced = [];

        public byte[] Current { get; set; } = [];

        public byte[] Durable { get; set; } = [];

        public void Write(ReadOnlySpan<byte> source, long offset)
        {
            if (offset + source.Length > Current.Length)
                Grow(offset + source.Length);
            source.CopyTo(Current.AsSpan((int)offset));
            _unsynced.Add((offset, source.ToArray()));
        }

        public void Grow(long length)
        {
            byte[] longer = Current;
            Array.Resize(ref longer, (int)length);
            Current = longer;
        }

        public void Sync()
        {
            Durable = [.. Current];
            _unsynced.Clear();
        }

        public void LosePower(Random random, bool leavesGarbage)
        {
            byte[] bytes = [.. Durable];
            if (Current.Length > bytes.Length && random.Next(2) == 0)
                Array.Resize(ref bytes, Current.Length);

            // One mood for a crash, or each sector for itself: all kept, all lost and mixtures are all likely.
            int keepPercent = random.Next(4) switch { 0 => 0, 1 => 100, _ => random.Next(101) };
            foreach ((long offset, byte[] written) in _unsynced)
            {
                for (int at = 0; at < written.Length;)
                {
                    int length = Math.Min(SectorBytes - (int)((offset + at) % SectorBytes), written.Length - at);
                    if (random.Next(100) < keepPercent && offset + at + length <= bytes.Length)
                        Keep(random, leavesGarbage, written.AsSpan(at, length), bytes.AsSpan((int)offset + at, length));
                    at += length;
                }
            }

            _unsynced.Clear();
            Durable = bytes;
            Current = [.. bytes];
        }

        private static void Keep(Random random, bool leavesGarbage, ReadOnlySpan<byte> written, Span<byte> sector)
        {
            switch (leavesGarbage ? random.Next(40) : 39)
            {
                case 0:
                    random.NextBytes(sector);
                    break;
                case 1:
                    written[..random.Next(written.Length)].CopyTo(sector);
                    break;
                default:
                    written.CopyTo(sector);
                    break;
            }
        }
    }

    private sealed class SimulatedFile(SimulatedDisk disk, string name, Inode inode) : IFile
    {
        public string Name => name;

        public long Length => inode.Current.Length;

        public int Read(Span<byte> destination, long offset)
        {
            if (offset >= inode.Current.Length)
                return 0;

            int length = (int)Math.Min(destination.Length, inode.Current.Length - offset);
            inode.Current.AsSpan((int)offset, length).CopyTo(destination);
            return length;
        }

        public void Write(ReadOnlySpan<byte> source, long offset)
        {
            disk.CheckRoom(offset + source.Length - inode.Current.Length);
            if (disk.Operations == disk.CrashAt && !disk.HasCrashed)
                inode.Write(source, offset); // the power fails while it is under way
            disk.Step();
            inode.Write(source, offset);
        }

        public void Sync()
        {
            disk.Step();
            inode.Sync();
        }

        public void Allocate(long lengthBytes)
        {
            if (lengthBytes <= inode.Current.Length)
                return;

            disk.CheckRoom(lengthBytes - inode.Current.Length);
            disk.Step();
            inode.Grow(lengthBytes);
        }

        public void Dispose()
        {
        }
    }
}
