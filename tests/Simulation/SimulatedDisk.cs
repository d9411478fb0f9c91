using System.Globalization;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Simulation;

/// <summary>
/// A disk in memory that can lose power, fail and fill up. After <see cref="Crash"/>, what was written and not synced is
/// there, lost, torn within a sector or garbage, independently for each 512-byte sector and in any order. File names are
/// durable only after their directory was synced. The length of a file may revert to what it was at its last sync.
/// </summary>
internal sealed class SimulatedDisk : IFileSystem
{
    private readonly Random _random;
    private readonly List<NameChange> _nameChanges = [];
    private readonly int[] _counts = new int[Enum.GetValues<DiskOperation>().Length];
    private readonly int[] _dataCounts = new int[Enum.GetValues<DiskOperation>().Length];
    private Dictionary<string, SimulatedInode> _names = new(StringComparer.Ordinal);
    private Dictionary<string, SimulatedInode> _durableNames = new(StringComparer.Ordinal);
    private bool _isLocked;

    /// <summary>Creates an empty disk.</summary>
    public SimulatedDisk(Random random)
        : this(random, DiskImage.Empty)
    {
    }

    /// <summary>Creates a disk from an image, all of it durable.</summary>
    public SimulatedDisk(Random random, DiskImage image)
    {
        _random = random;
        Begin(image);
    }

    public string Path => "/simulated";

    /// <summary>Number of changes so far: writes, syncs, growth, names.</summary>
    public int Operations { get; private set; }

    /// <summary>Number of the change at which the power fails, or -1.</summary>
    public int CrashAt { get; set; } = -1;

    /// <summary>Number of the one change that fails with an error, or -1.</summary>
    public int FailAt { get; set; } = -1;

    /// <summary>The calls that fail.</summary>
    public DiskFault? Fault { get; set; }

    /// <summary>Maximum total length of all files in bytes.</summary>
    public long CapacityBytes { get; set; } = long.MaxValue;

    public bool HasCrashed { get; private set; }

    /// <summary>Whether a call was made to fail or found the disk full.</summary>
    public bool HasFailed { get; private set; }

    /// <summary>Whether a crash may leave garbage in a sector, as a torn write can on disks without guarantees.</summary>
    public bool LeavesGarbage { get; set; } = true;

    /// <summary>
    /// Whether space cannot be preallocated, as on file systems without fallocate. Files then grow by writing zeros.
    /// </summary>
    public bool RefusesAllocation { get; set; }

    /// <summary>
    /// The clock on which a cached write with its sync takes longer than a direct write, so that journals choose direct
    /// writes. If null, there are no direct writes.
    /// </summary>
    public SimulatedClock? DirectClock { get; set; }

    /// <summary>Whether maps show writes at once.</summary>
    public bool MapsSeeWrites { get; set; }

    /// <summary>
    /// Called before each call takes effect, with its kind and the file name. Lets other threads run, or examines what a
    /// crash would leave.
    /// </summary>
    public Action<DiskOperation, string>? Acting { get; set; }

    /// <summary>Where to describe each change, or null.</summary>
    public List<string>? Story { get; set; }

    /// <summary>Whether the current failing sync marks dirty data as clean.</summary>
    public bool ForgetsDirty { get; private set; }

    public bool IsAboutToCrash => Operations == CrashAt && !HasCrashed;

    /// <summary>Changes of names that no sync has made durable, in order.</summary>
    public IReadOnlyList<NameChange> NameChanges => _nameChanges;

    /// <summary>Files by their durable names.</summary>
    public IReadOnlyDictionary<string, SimulatedInode> DurableNames => _durableNames;

    /// <summary>Whether the file has this name after a crash.</summary>
    public bool IsNameDurable(string name) =>
        _names.TryGetValue(name, out SimulatedInode? inode)
            && _durableNames.TryGetValue(name, out SimulatedInode? durable)
            && inode == durable;

    /// <summary>Whether a failed sync marked data as clean that no later write has replaced.</summary>
    public bool HasForgotten => _names.Values.Any(inode => inode.HasForgotten);

    /// <summary>Number of calls of a kind so far.</summary>
    public int Count(DiskOperation kind) => _counts[(int)kind];

    /// <summary>Number of calls of a kind on the data file so far.</summary>
    public int CountOfData(DiskOperation kind) => _dataCounts[(int)kind];

    public void CreateDirectory()
    {
    }

    public IReadOnlyList<string> List() => [.. _names.Keys];

    public IFile Open(string name, bool create, bool writable)
    {
        if (!create)
        {
            Step(DiskOperation.Open, name);
            return new SimulatedFile(
                this, name, _names.TryGetValue(name, out SimulatedInode? found) ? found : throw new FileNotFoundException(name));
        }

        Step(DiskOperation.Create, name);
        var inode = new SimulatedInode(new DiskContent());
        if (!_names.TryAdd(name, inode))
            throw new IOException($"'{name}' exists.");
        _nameChanges.Add(new NameChange(name, inode));
        return new SimulatedFile(this, name, inode);
    }

    public void Delete(string name)
    {
        Step(DiskOperation.Delete, name);
        _names.Remove(name);
        _nameChanges.Add(new NameChange(name, null));
    }

    public void Rename(string from, string to)
    {
        Step(DiskOperation.Rename, from);
        SimulatedInode inode = _names[from];
        _names.Remove(from);
        _names[to] = inode;
        _nameChanges.Add(new NameChange(to, inode, From: from));
    }

    public void SyncDirectory()
    {
        Step(DiskOperation.SyncDirectory, "");
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

    public IFileMap Map(IFile file, long reserveBytes) =>
        new SimulatedMap(this, ((SimulatedFile)file).Inode, file.Name, reserveBytes, MapsSeeWrites);

    /// <summary>Evicts all mapped pages from memory; the next access reads from the disk.</summary>
    public void EvictMaps()
    {
        foreach (SimulatedInode inode in _names.Values)
            inode.EvictMaps();
    }

    /// <summary>Turns the power off: all further calls fail.</summary>
    public void PowerOff() => HasCrashed = true;

    /// <summary>
    /// Simulates the end of the process while the machine keeps running: the next process sees everything written, synced or
    /// not. No further call is made to fail.
    /// </summary>
    public void Resume()
    {
        Fault = null;
        HasCrashed = false;
        CrashAt = -1;
        _isLocked = false;
    }

    /// <summary>Simulates a power loss: draws what the disk holds then, and makes it usable again.</summary>
    public void Crash() => Restart(new PowerLoss(this).Draw(_random, LeavesGarbage).Build());

    /// <summary>Restarts with what a power loss left.</summary>
    public void Restart(DiskImage image)
    {
        Begin(image);
        _nameChanges.Clear();
        HasCrashed = false;
        CrashAt = -1;
        FailAt = -1;
        Fault = null;
        Operations = 0;
        Array.Clear(_counts);
        Array.Clear(_dataCounts);
        _isLocked = false;
    }

    /// <summary>The bytes of a file, to examine or to damage. Changes to the array are changes to the file.</summary>
    public byte[] Bytes(string name) => _names[name].Lend();

    /// <summary>Replaces a file.</summary>
    public void Replace(string name, byte[] bytes)
    {
        var inode = new SimulatedInode(DiskContent.Of(bytes));
        _names[name] = inode;
        _durableNames[name] = inode;
    }

    /// <summary>The state that programs see now, as an image.</summary>
    public DiskImage Image() => new(_names.ToDictionary(entry => entry.Key, entry => entry.Value.Current.Fork()));

    /// <summary>A disk with the same content, all of it durable.</summary>
    public SimulatedDisk Copy(Random draw) => new(draw, Image());

    /// <summary>Counts a call, and throws if it is to fail.</summary>
    public void Step(DiskOperation kind, string name, long offset = -1, long length = -1)
    {
        ForgetsDirty = false;
        if (HasCrashed)
            throw new IOException("The power is off.");

        Acting?.Invoke(kind, name);
        if (HasCrashed)
            throw new IOException("The power went off meanwhile.");

        int number = _counts[(int)kind]++;
        bool isData = name == FormatLimits.DataFileName;
        int ofData = isData ? _dataCounts[(int)kind]++ : _dataCounts[(int)kind];
        if (Fault is { OfData: { } wanted })
            number = wanted == isData ? (isData ? ofData : number - ofData) : -1;
        if (Fault is { } fault
            && fault.Kind == kind
            && number >= 0
            && (fault.IsForever ? number >= fault.Number : number == fault.Number))
        {
            HasFailed = true;
            ForgetsDirty = fault.MarksClean;
            if (fault.KillAfter >= 0 && CrashAt < 0)
                CrashAt = Operations + fault.KillAfter;
            Story?.Add($"  {Say(kind, name, offset, length)}: FAILS");
            throw fault.IsFull
                ? new DiskFullException($"The simulated disk is full: {kind} of '{name}'.")
                : new StorageException($"The simulated disk failed: {kind} of '{name}'.", new IOException("Failed on purpose."));
        }

        if (kind is DiskOperation.Open or DiskOperation.Read or DiskOperation.Load)
            return;

        if (Operations == CrashAt)
        {
            HasCrashed = true;
            throw new IOException("The power went off.");
        }

        Story?.Add($"  {Operations}: {Say(kind, name, offset, length)}");
        if (Operations++ == FailAt)
            throw new IOException("The disk failed once.");
    }

    /// <summary>Throws if the disk has no space for this many more bytes.</summary>
    public void CheckRoom(long moreBytes)
    {
        if (moreBytes > 0 && CapacityBytes < long.MaxValue
            && _names.Values.Distinct().Sum(inode => inode.Current.Length) + moreBytes > CapacityBytes)
        {
            HasFailed = true;
            throw new DiskFullException("The simulated disk is full.");
        }
    }

    private static string Say(DiskOperation kind, string name, long offset, long length) => kind switch
    {
        DiskOperation.SyncDirectory => "sync of the directory",
        DiskOperation.Allocate => string.Create(CultureInfo.InvariantCulture, $"'{name}' grows to {offset}"),
        _ when length >= 0 => string.Create(CultureInfo.InvariantCulture, $"{kind} '{name}' at {offset}, {length} bytes"),
        _ => $"{kind} '{name}'",
    };

    private void Begin(DiskImage image)
    {
        _names = new(StringComparer.Ordinal);
        foreach ((string name, DiskContent content) in image.Files)
            _names.Add(name, new SimulatedInode(content));
        _durableNames = new(_names, StringComparer.Ordinal);
    }

    private sealed class Release(SimulatedDisk disk) : IDisposable
    {
        public void Dispose() => disk._isLocked = false;
    }
}

/// <summary>Creation or renaming of a file or, without an inode, its deletion.</summary>
internal sealed record NameChange(string Name, SimulatedInode? Inode, string? From = null)
{
    public void Apply(Dictionary<string, SimulatedInode> names)
    {
        if (From is not null)
            names.Remove(From);
        if (Inode is null)
            names.Remove(Name);
        else
            names[Name] = Inode;
    }

    public override string ToString() =>
        Inode is null ? $"'{Name}' deleted" : From is null ? $"'{Name}' created" : $"'{From}' renamed to '{Name}'";
}
