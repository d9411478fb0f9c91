namespace Treepie.Storage.Simulation;

/// <summary>
/// Everything that a power loss at this moment can leave. Each item that is not durable is a dimension with a number of
/// options: a sector has its durable content or that of any later write, and may be damaged even if it was rewritten with
/// the same content; a file has its durable length or any later one; a change of names has happened or not.
/// </summary>
internal sealed class PowerLoss
{
    private const int SectorsOfBlock = 4096 / PendingWrite.SectorBytes;

    private static readonly byte[] _zeros = new byte[PendingWrite.SectorBytes];

    private readonly List<SimulatedInode> _inodes = [];
    private readonly List<SectorChoice> _sectors = [];
    private readonly List<LengthChoice> _lengths = [];
    private readonly NameChange[] _nameChanges;
    private readonly Dictionary<string, SimulatedInode> _names;

    public PowerLoss(SimulatedDisk disk)
    {
        _nameChanges = [.. disk.NameChanges];
        _names = new(disk.DurableNames, StringComparer.Ordinal);
        foreach (SimulatedInode inode in _names.Values.Concat(
            _nameChanges.Select(change => change.Inode).OfType<SimulatedInode>()).Distinct())
        {
            _inodes.Add(inode);
            if (inode.HasPending)
                Collect(inode);
        }

        int[] options = new int[_sectors.Count + _lengths.Count + _nameChanges.Length];
        for (int i = 0; i < options.Length; i++)
            options[i] = i < _sectors.Count
                ? _sectors[i].Versions.Count
                : i < _sectors.Count + _lengths.Count ? _lengths[i - _sectors.Count].Lengths.Length : 2;
        Options = options;
    }

    /// <summary>
    /// Number of options of each dimension. Option 0 is the durable state, the last option the intended one.
    /// </summary>
    public IReadOnlyList<int> Options { get; }

    /// <summary>Number of dimensions that are sectors. They come first, in the order of their first unsynced write.</summary>
    public int Sectors => _sectors.Count;

    /// <summary>Number of outcomes, not counting damage.</summary>
    public double Outcomes => Options.Aggregate(1.0, (product, options) => product * options);

    /// <summary>
    /// Sectors whose written content differs from the durable one. The other sectors can only be damaged.
    /// </summary>
    public IEnumerable<int> ChangedSectors => Enumerable.Range(0, Sectors).Where(i => Options[i] > 1);

    /// <summary>Distinct operations that wrote the changed sectors, in order.</summary>
    public IEnumerable<int> Writes => ChangedSectors.Select(OperationOf).Distinct();

    /// <summary>The outcome in which everything unsynced is lost.</summary>
    public CrashOutcome None() => new(this, new int[Options.Count]);

    /// <summary>The outcome in which everything unsynced is kept.</summary>
    public CrashOutcome All() => new(this, [.. Options.Select(options => options - 1)]);

    /// <summary>All outcomes; see <see cref="Outcomes"/> for their number.</summary>
    public IEnumerable<CrashOutcome> Every()
    {
        int[] picks = new int[Options.Count];
        while (true)
        {
            yield return new CrashOutcome(this, [.. picks]);
            int at = 0;
            while (at < picks.Length && ++picks[at] == Options[at])
                picks[at++] = 0;
            if (at == picks.Length)
                yield break;
        }
    }

    /// <summary>
    /// The most informative outcomes if there are too many for <see cref="Every"/>: nothing, everything, everything up to
    /// each write, and each write or dimension alone kept or alone lost.
    /// </summary>
    public IEnumerable<CrashOutcome> Telling()
    {
        yield return None();
        yield return All();
        int[] writes = [.. Writes];
        foreach (int write in writes)
        {
            yield return Where(i => OperationOf(i) <= write);
            yield return Where(i => OperationOf(i) != write);
            yield return Where(i => OperationOf(i) == write || i >= Sectors);
        }

        for (int i = 0; i < Options.Count; i++)
        {
            if (Options[i] == 1)
                continue; // rewritten unchanged: only damage makes a difference
            int only = i;
            yield return Where(other => other == only);
            yield return Where(other => other != only);
        }
    }

    /// <summary>
    /// Keeps only the first sector of each 4 KiB block, which is examined first; or all others, but not that one.
    /// </summary>
    public CrashOutcome Heads(bool areKept) =>
        Where(i => i >= Sectors || (_sectors[i].Number % SectorsOfBlock == 0) == areKept);

    /// <summary>Keeps everything unsynced, and damages sectors that were rewritten unchanged: all of them, or one.</summary>
    public CrashOutcome Rewritten(Random random, bool isAll)
    {
        int[] same = [.. Enumerable.Range(0, Sectors).Where(i => Options[i] == 1)];
        int[] picks = [.. Options.Select(options => options - 1)];
        foreach (int sector in isAll || same.Length == 0 ? same : [same[random.Next(same.Length)]])
            picks[sector] = CrashOutcome.Damage(random);
        return new CrashOutcome(this, picks);
    }

    /// <summary>Draws one outcome: all kept, all lost, whole writes and mixtures of sectors are all likely.</summary>
    public CrashOutcome Draw(Random random, bool withDamage)
    {
        int mood = random.Next(5);
        int keepPercent = mood switch { 0 => 0, 1 => 100, _ => random.Next(101) };
        var writes = new Dictionary<int, bool>();
        int[] picks = new int[Options.Count];
        for (int i = 0; i < picks.Length; i++)
        {
            bool keep;
            if (mood == 2 && i < Sectors)
            {
                int operation = OperationOf(i);
                if (!writes.TryGetValue(operation, out keep))
                    writes.Add(operation, keep = random.Next(100) < keepPercent);
            }
            else
            {
                keep = random.Next(100) < keepPercent;
            }

            picks[i] = keep ? Options[i] == 2 || random.Next(3) > 0 ? Options[i] - 1 : random.Next(Options[i]) : 0;
            if (withDamage && keep && i < Sectors && random.Next(20) == 0)
                picks[i] = CrashOutcome.Damage(random);
        }

        return new CrashOutcome(this, picks);
    }

    /// <summary>The sector of a dimension.</summary>
    internal SectorChoice Sector(int dimension) => _sectors[dimension];

    /// <summary>The disk after an outcome.</summary>
    internal DiskImage Build(int[] picks)
    {
        var names = new Dictionary<string, SimulatedInode>(_names, StringComparer.Ordinal);
        for (int i = 0; i < _nameChanges.Length; i++)
            if (picks[_sectors.Count + _lengths.Count + i] != 0)
                _nameChanges[i].Apply(names);

        var contents = new Dictionary<SimulatedInode, DiskContent>();
        foreach (SimulatedInode inode in names.Values)
            contents[inode] = inode.Durable.Fork();
        for (int i = 0; i < _lengths.Count; i++)
            if (contents.TryGetValue(_lengths[i].Inode, out DiskContent? content))
                content.SetLength(_lengths[i].Lengths[picks[_sectors.Count + i]]);
        for (int i = 0; i < _sectors.Count; i++)
        {
            SectorChoice sector = _sectors[i];
            if (picks[i] == 0 || !contents.TryGetValue(sector.Inode, out DiskContent? content))
                continue;

            ReadOnlySpan<byte> bytes = picks[i] > 0
                ? sector.Versions[picks[i]]
                : CrashOutcome.Damaged(picks[i], sector.Versions);
            long room = content.Length - (sector.Number * PendingWrite.SectorBytes);
            if (room > 0)
                content.Write(bytes[..(int)Math.Min(room, bytes.Length)], sector.Number * PendingWrite.SectorBytes);
        }

        return new DiskImage(names.ToDictionary(entry => entry.Key, entry => contents[entry.Value]));
    }

    /// <summary>Describes an outcome.</summary>
    internal IEnumerable<string> Describe(int[] picks)
    {
        foreach (IGrouping<(SimulatedInode, int), int> write in Enumerable.Range(0, Sectors)
            .GroupBy(i => (_sectors[i].Inode, _sectors[i].Operation)))
        {
            string name = NameOf(write.Key.Item1);
            string sectors = string.Join(", ", write.Select(i => $"{_sectors[i].Number} {Say(picks[i], Options[i])}"));
            yield return $"'{name}', write {write.Key.Item2}: sectors {sectors}";
        }

        for (int i = 0; i < _lengths.Count; i++)
            yield return $"'{NameOf(_lengths[i].Inode)}' has {_lengths[i].Lengths[picks[Sectors + i]]} bytes (durable "
                + $"{_lengths[i].Lengths[0]}, meant {_lengths[i].Lengths[^1]})";
        for (int i = 0; i < _nameChanges.Length; i++)
            yield return $"{_nameChanges[i]}: {(picks[Sectors + _lengths.Count + i] != 0 ? "kept" : "lost")}";
    }

    private static string Say(int pick, int options) => pick switch
    {
        0 => "lost",
        < 0 => "damaged",
        _ when pick == options - 1 => "kept",
        _ => $"kept of write {pick} of {options - 1}",
    };

    private string NameOf(SimulatedInode inode) =>
        _names.FirstOrDefault(entry => entry.Value == inode).Key ?? _nameChanges.First(change => change.Inode == inode).Name;

    private int OperationOf(int dimension) => dimension < Sectors ? _sectors[dimension].Operation : int.MaxValue;

    private CrashOutcome Where(Func<int, bool> keeps)
    {
        int[] picks = new int[Options.Count];
        for (int i = 0; i < picks.Length; i++)
            picks[i] = keeps(i) ? Options[i] - 1 : 0;
        return new CrashOutcome(this, picks);
    }

    private void Collect(SimulatedInode inode)
    {
        if (inode.Lengths.Count > 0 && inode.Lengths.Any(length => length != inode.Durable.Length))
            _lengths.Add(new LengthChoice(inode, [.. inode.Lengths.Prepend(inode.Durable.Length).Distinct()]));

        var sectors = new Dictionary<long, SectorChoice>();
        foreach (PendingWrite write in inode.Pending)
        {
            long end = write.Offset + write.Bytes.Length;
            for (long sector = write.Offset / PendingWrite.SectorBytes; sector * PendingWrite.SectorBytes < end; sector++)
            {
                long start = Math.Max(write.Offset, sector * PendingWrite.SectorBytes);
                int length = (int)(Math.Min(end, (sector + 1) * PendingWrite.SectorBytes) - start);
                ReadOnlySpan<byte> piece = write.Bytes.AsSpan((int)(start - write.Offset), length);
                if (!sectors.TryGetValue(sector, out SectorChoice? choice))
                {
                    sectors.Add(sector, choice = new SectorChoice(inode, sector, write.Operation, [DurableAt(inode, sector)]));
                    _sectors.Add(choice);
                }

                int at = (int)(start % PendingWrite.SectorBytes);
                if (piece.SequenceEqual(choice.Versions[^1].AsSpan(at, length)))
                    continue; // unchanged, but being written nevertheless
                byte[] next = [.. choice.Versions[^1]];
                piece.CopyTo(next.AsSpan(at));
                choice.Versions.Add(next);
            }
        }
    }

    private static byte[] DurableAt(SimulatedInode inode, long sector)
    {
        Span<byte> found = stackalloc byte[PendingWrite.SectorBytes];
        found.Clear();
        inode.Durable.Read(found, sector * PendingWrite.SectorBytes);
        return found.ContainsAnyExcept((byte)0) ? found.ToArray() : _zeros;
    }

    internal sealed record SectorChoice(SimulatedInode Inode, long Number, int Operation, List<byte[]> Versions);

    private sealed record LengthChoice(SimulatedInode Inode, long[] Lengths);
}
